"""Built-in data sets: classic small examples, three from scikit-learn, and synthetic shapes.

Imports `data.table`, `runtime` and `errors`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from lowdim.data.datasets import synthetic
from lowdim.data.datasets.literal import ARRESTS, CITIES, CITY_DISTANCES, EIGHT, IRIS_COLUMNS, WINE_COLUMNS
from lowdim.data.table import Table
from lowdim.errors import BadParameter
from lowdim.runtime.param import Integer, Real, SeedLike

__all__ = ["load", "names"]

OPTIONS = {
    "n": Integer(2, 10_000_000),
    "d": Integer(1, 100_000),
    "size": Integer(4, 512),
    "rings": Integer(1, 1000),
    "gap": Real(0, open=True),
    "clusters": Integer(1, 100_000),
    "people": Integer(1, 100_000),
    "turns": Real(0, open=True),
    "height": Real(0, open=True),
    "separation": Real(0),
    "noise": Real(0),
    "random_state": SeedLike(),
}


@dataclass(frozen=True)
class _Dataset:
    make: Callable[..., Table]
    about: str
    source: str


def load(name: str, **options: Any) -> Table:
    """Load a data set by name; `names()` lists them.

    Synthetic data sets take `n`, `noise` and `random_state`, and some have more options, which the error for an unknown
    option lists. The same seed gives the same numbers.
    """
    if not isinstance(name, str) or name not in _DATASETS:
        near = get_close_matches(str(name), _DATASETS, n=2, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Available: {', '.join(_DATASETS)}."
        raise BadParameter(f"there is no data set {name!r}. {hint}")
    chosen = _DATASETS[name]
    known = inspect.signature(chosen.make).parameters
    for option, value in options.items():
        if option not in known:
            takes = ", ".join(f"{p.name}={p.default!r}" for p in known.values()) or "no options"
            raise BadParameter(f"data set {name!r} has no option {option!r}. It takes {takes}.")
        if not OPTIONS[option].accepts(value):
            raise BadParameter(f"data set {name!r}: {option} must be {OPTIONS[option].text}; got {value!r}.")
    return replace(chosen.make(**options), source=chosen.source)


def names() -> dict[str, str]:
    """The names that `load` accepts, each with one line of description and its source."""
    return {name: f"{entry.about} ({entry.source})" for name, entry in _DATASETS.items()}


def _digits() -> Table:
    values = _scikit_learn_file("digits.csv.gz")
    names = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
    return Table(values[:, :-1], names, values[:, -1].astype(np.int64), "digit", image_shape=(8, 8))


def _iris() -> Table:
    return _classes("iris.csv", IRIS_COLUMNS, "species", ("setosa", "versicolor", "virginica"))


def _wine() -> Table:
    return _classes("wine_data.csv", WINE_COLUMNS, "cultivar", ("class_0", "class_1", "class_2"))


def _classes(file: str, names: tuple[str, ...], label_name: str, classes: tuple[str, ...]) -> Table:
    values = _scikit_learn_file(file, skip=1)
    return Table(values[:, :-1], names, np.array(classes)[values[:, -1].astype(np.int64)], label_name)


def _scikit_learn_file(name: str, skip: int = 0) -> Any:
    """Numbers that scikit-learn ships, the class last; `sklearn.datasets` would import ten packages to read them."""
    path = Path(sklearn.__file__).parent / "datasets" / "data" / name
    return np.loadtxt(path, delimiter=",", skiprows=skip)


def _eight() -> Table:
    return Table(np.array(EIGHT, dtype=float), ("x", "y"))


def _cities() -> Table:
    return Table(np.array(CITY_DISTANCES, dtype=float), CITIES, ids=np.array(CITIES), kind="distances")


def _arrests() -> Table:
    rows = [line.rsplit(maxsplit=4) for line in ARRESTS.strip().splitlines()]
    X = np.array([row[1:] for row in rows], dtype=float)
    return Table(X, ("Murder", "Assault", "UrbanPop", "Rape"), ids=np.array([row[0] for row in rows]))


_SYNTHETIC = "synthetic"
_DATASETS = {
    "digits": _Dataset(_digits, "1,797 handwritten digits of 8 × 8 pixels", "Alpaydin and Kaynak 1998, scikit-learn"),
    "iris": _Dataset(_iris, "150 iris flowers of 3 species, 4 measurements", "Fisher 1936, scikit-learn"),
    "wine": _Dataset(_wine, "178 wines of 3 cultivars, 13 measurements", "Forina et al. 1991, scikit-learn"),
    "arrests": _Dataset(
        _arrests,
        "50 US states: 3 arrest rates and the urban population share, 1973",
        "World Almanac 1975; McNeil 1977",
    ),
    "eight": _Dataset(_eight, "8 points in the plane, a worked example of PCA", "lecture 4"),
    "cities": _Dataset(_cities, "distances in miles between 9 US cities, not quite Euclidean", "lecture 2"),
    "faces": _Dataset(synthetic.faces, "face-like images of 40 people, 32 × 32 pixels", _SYNTHETIC),
    "rings": _Dataset(synthetic.rings, "concentric rings, not linearly separable", _SYNTHETIC),
    "spiral": _Dataset(synthetic.spiral, "a spiral in the plane, labeled by arc length", _SYNTHETIC),
    "swissroll": _Dataset(
        synthetic.swissroll, "a rectangle rolled up in 3-D (Swiss roll), labeled by arc length", _SYNTHETIC
    ),
    "scurve": _Dataset(synthetic.scurve, "a rectangle bent into an S in 3-D, labeled by arc length", _SYNTHETIC),
    "subspaces": _Dataset(synthetic.subspaces, "clusters in 4 of the columns each, and noise", _SYNTHETIC),
    "clusters": _Dataset(synthetic.clusters, "isotropic Gaussian clusters in d dimensions", _SYNTHETIC),
}
