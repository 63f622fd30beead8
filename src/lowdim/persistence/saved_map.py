"""The map of the fitted rows, kept in a model file beside a model that keeps none, such as a PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import ModelFileError
from lowdim.persistence.codec import decode, encode
from lowdim.persistence.container import Tensors

__all__ = ["SECTION", "SavedMap"]

Array = NDArray[Any]

SECTION = "map"  # of the manifest
MOST_ROWS = 20_000  # of more rows, a sample at equal steps
MOST_CATEGORIES = 1000  # labels of more different texts are not kept


@dataclass(frozen=True)
class SavedMap:
    """Coordinates of fitted rows, and the labels that they are colored by."""

    embedding: Array  # (m, k)
    labels: Array | None = None  # (m,) numbers or texts
    label_name: str | None = None

    @classmethod
    def of(cls, embedding: Any, labels: Any = None, label_name: str | None = None) -> SavedMap:
        """At most `MOST_ROWS` of the rows, in float32."""
        Z = np.asarray(embedding, dtype=np.float32)
        step = -(-len(Z) // MOST_ROWS) or 1
        kept = _storable(labels)
        return cls(Z[::step], None if kept is None else kept[::step], None if kept is None else label_name)

    def encode(self, tensors: Tensors) -> dict[str, Any]:
        """The section of the manifest; texts are stored once, and a number per row."""
        codes, texts = self.labels, None
        if codes is not None and codes.dtype.kind in "UO":
            names, codes = np.unique(codes.astype(str), return_inverse=True)
            texts, codes = names.tolist(), codes.astype(np.int32)
        fields = {"embedding": self.embedding, "labels": codes, "texts": texts, "label_name": self.label_name}
        return {name: encode(value, f"{SECTION}.{name}", tensors) for name, value in fields.items()}

    @classmethod
    def decode(cls, section: Any, tensors: Tensors) -> SavedMap:
        """The map of a section, which must agree with itself."""
        if not isinstance(section, dict):
            raise ModelFileError("the section of the map is damaged.")
        names = ("embedding", "labels", "texts", "label_name")
        found = {name: decode(section.get(name), f"{SECTION}.{name}", tensors) for name in names}
        Z, labels, texts = found["embedding"], found["labels"], found["texts"]
        sound = isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.dtype == np.float32 and bool(np.isfinite(Z).all())
        if sound and labels is not None:
            sound = isinstance(labels, np.ndarray) and labels.shape == (len(Z),) and labels.dtype.kind in "biuf"
        if sound and texts is not None:
            sound = isinstance(texts, list) and all(isinstance(text, str) for text in texts) and labels is not None
            sound = sound and labels.dtype == np.int32 and bool(((labels >= 0) & (labels < len(texts))).all())
            labels = np.array(texts, dtype=object)[labels] if sound else labels
        if not sound or not isinstance(found["label_name"], str | None):
            raise ModelFileError("the map in the file contradicts itself. Fit the model again.")
        return cls(Z, labels, found["label_name"])


def _storable(labels: Any) -> Array | None:
    """Labels as numbers or texts; None if there are none, or too many different ones to color by."""
    if labels is None:
        return None
    values = np.asarray(labels)
    if values.dtype.kind in "biuf":
        return values
    texts: Array = np.array(["" if value is None or value != value else str(value) for value in values], dtype=object)
    return texts if len(set(texts)) <= MOST_CATEGORIES else None
