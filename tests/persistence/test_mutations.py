"""Model files whose checksum fits but whose contents lie: every field of every estimator, one lie at a time.

`load` refuses the file, or the model that it returns works: `transform` gives finite numbers of the right shape, or one
of lowdim's errors, and so do the other methods that need no target.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim import kernels
from lowdim.errors import LowdimError, ModelFileError
from lowdim.persistence import load
from lowdim.persistence.allowlist import estimators
from lowdim.persistence.codec import encode
from lowdim.persistence.container import write_container
from lowdim.persistence.manifest import describe, restore, to_text
from lowdim.runtime.param import parameters
from targets import target_for

N, D = 24, 3

RNG = np.random.default_rng(0)
ROWS = np.round(RNG.normal(size=(N, D)), 3)
NEW = np.vstack([ROWS[:2], RNG.normal(size=(4, D))])
DISTANCES = np.linalg.norm(ROWS[:, None] - ROWS, axis=2)
NEW_DISTANCES = np.linalg.norm(NEW[:, None] - ROWS, axis=2)

# At least one fit per estimator, and one per kind of state that it can have.
FITS = {
    "PCA": (lambda: lowdim.PCA(2), ROWS, NEW),
    "PCA whitened": (lambda: lowdim.PCA(2, whiten=True, standardize=True), ROWS, NEW),
    "ICA": (lambda: lowdim.ICA(2), ROWS, NEW),
    "ProjectionPursuit": (lambda: lowdim.ProjectionPursuit(2, n_init=2, n_null=2), ROWS, NEW),
    "KernelPCA": (lambda: lowdim.KernelPCA(2, kernel=kernels.rbf(0.5)), ROWS, NEW),
    "KernelPCA linear": (lambda: lowdim.KernelPCA(2, kernel="linear"), ROWS, NEW),
    "KernelPCA precomputed": (lambda: lowdim.KernelPCA(2, kernel="precomputed"), ROWS @ ROWS.T, NEW @ ROWS.T),
    "ClassicalMDS": (lambda: lowdim.ClassicalMDS(2), ROWS, NEW),
    "ClassicalMDS landmarks": (lambda: lowdim.ClassicalMDS(2, metric="manhattan", n_landmarks=9), ROWS, NEW),
    "ClassicalMDS precomputed": (
        lambda: lowdim.ClassicalMDS(2, metric="precomputed", correction="lingoes"),
        DISTANCES,
        NEW_DISTANCES,
    ),
    "MDS": (lambda: lowdim.MDS(2), ROWS, NEW),
    "MDS sstress": (lambda: lowdim.MDS(2, loss="sstress", metric="precomputed"), DISTANCES, NEW_DISTANCES),
    "NonmetricMDS": (lambda: lowdim.NonmetricMDS(2), ROWS, NEW),
    "Isomap": (lambda: lowdim.Isomap(2, conformal=True), ROWS, NEW),
    "Isomap landmarks": (lambda: lowdim.Isomap(2, n_landmarks=9, metric="precomputed"), DISTANCES, NEW_DISTANCES),
    "LLE": (lambda: lowdim.LLE(2, n_neighbors=5), ROWS, NEW),
    "LaplacianEigenmaps": (lambda: lowdim.LaplacianEigenmaps(2, n_neighbors=4, alpha=0.5), ROWS, NEW),
    "LaplacianEigenmaps weights": (
        lambda: lowdim.LaplacianEigenmaps(2, affinity="precomputed"),
        np.exp(-DISTANCES),
        np.exp(-NEW_DISTANCES),
    ),
    "LDA": (lambda: lowdim.LDA(2), ROWS, NEW),
    "TruncatedSVD": (lambda: lowdim.TruncatedSVD(2), ROWS, NEW),
    "CA": (lambda: lowdim.CA(2), np.abs(ROWS), np.abs(NEW)),
    "MCA": (lambda: lowdim.MCA(2), np.rint(ROWS) % 3, np.rint(NEW) % 3),
    "FAMD": (
        lambda: lowdim.FAMD(2, categorical=[0]),
        np.column_stack([np.rint(ROWS[:, :1]) % 3, ROWS]),
        np.column_stack([np.rint(NEW[:, :1]) % 3, NEW]),
    ),
    "TSNE": (lambda: lowdim.TSNE(2, max_iter=20), ROWS, NEW),
    "UMAP": (lambda: lowdim.UMAP(2, n_epochs=10, n_neighbors=5), ROWS, NEW),
    "UMAP densmap": (
        lambda: lowdim.UMAP(2, n_epochs=10, n_neighbors=5, densmap=True),
        np.vstack([ROWS, ROWS[:3]]),
        NEW,
    ),
    "Standardized": (lambda: lowdim.Standardized(lowdim.UMAP(2, n_epochs=10)), ROWS, NEW),
    "SIR": (lambda: lowdim.SIR(2), ROWS, NEW),
    "SIR permutation": (lambda: lowdim.SIR(2, order_test="permutation", n_permutations=5), ROWS, NEW),
    "SAVE": (lambda: lowdim.SAVE(2, ridge=0.1), ROWS, NEW),
    "PHD": (lambda: lowdim.PHD(2), ROWS, NEW),
    "DirectionalRegression": (lambda: lowdim.DirectionalRegression(2), ROWS, NEW),
    "LSIR": (lambda: lowdim.LSIR(2, n_neighbors=3), ROWS, NEW),
}

# Values of which each parameter takes some.
WORDS = ("precomputed", "cosine", "hamming", "sstress", "spline", "heat", "binary", "local", "median", "unnormalized")
WORDS += ("symmetric", "lingoes", "hessian", "modified", "numeric", "em", "svd", "farthest", "poly", "random", "error")
CANDIDATES = (None, True, False, 1, 2, 7, 0.25, *WORDS)

MISSING = object()
MAX_FIELDS = 400  # far above what any model has: a guard of the test itself


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@cache
def parts(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    make, X, _ = FITS[name]
    model = make()
    return describe(model.fit(X, target_for(type(model).__name__, X)))


def places(section: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The keys that lead to every field of a manifest's section, those of nested dataclasses included."""
    found = []
    for key, value in section.items():
        found.append((*path, key))
        if isinstance(value, dict) and "fields" in value:
            found += places(value["fields"], (*path, key, "fields"))
    return found


def fields(manifest: dict[str, Any]) -> list[tuple[str, ...]]:
    out = places(manifest["fitted"], ("fitted",)) + places(manifest.get("standardized", {}), ("standardized",))
    if manifest["state"] is not None:
        out += [("state",), *places(manifest["state"]["fields"], ("state", "fields"))]
    assert len(out) < MAX_FIELDS
    return out


def tensor_name(place: tuple[str, ...]) -> str:
    return ".".join(key for key in place if key not in ("fitted", "fields"))


def lies(value: Any, tensors: dict[str, np.ndarray], name: str) -> dict[str, Any]:
    """What is written in place of a value, by the kind of lie."""
    out: dict[str, Any] = {"missing": MISSING, "none": None, "text": "many", "a list": [1, 2], "flag": True}
    array = tensors.get(name)
    if array is None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            out |= {"nan": float("nan"), "negative": -1, "huge": 2**31, "fraction": 0.5, "zero": 0, "infinite": 1e308}
        return out
    real = array.dtype.kind == "f"
    out |= {"negative": -np.abs(array) - 1, "zeros": np.zeros_like(array), "number": 1.0, "whole numbers": 1}
    out |= {"longer": np.concatenate([array, array]) if array.ndim else np.array([array, array])}
    out |= {"another axis": array[None], "shorter": array[:-1] if array.ndim else array[None]}
    out |= {"empty": array.ravel()[:0], "other dtype": array.astype(np.float16 if real else np.float64)}
    largest = np.finfo(array.dtype).max if real else np.iinfo(array.dtype).max if array.dtype.kind in "iu" else True
    out["huge"] = np.full_like(array, largest)
    if array.ndim == 2:
        out |= {"transposed": np.ascontiguousarray(array.T), "narrower": np.ascontiguousarray(array[:, :-1])}
    if array.ndim and array.dtype.kind in "iuf" and array.size > 1:
        out["in reverse"] = np.ascontiguousarray(array[::-1])
    if real and array.size:
        for kind, number in (("nan", np.nan), ("infinite", np.inf)):
            out[kind] = array.copy()
            out[kind][(0,) * array.ndim] = number
    return out


def told(name: str, place: tuple[str, ...], lie: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Manifest and tensors with one field replaced."""
    manifest, tensors = (copy.deepcopy(part) for part in parts(name))
    section = manifest
    for key in place[:-1]:
        section = section[key]
    prefix = tensor_name(place)
    for other in [other for other in tensors if other == prefix or other.startswith(f"{prefix}.")]:
        del tensors[other]
    if lie is MISSING:
        del section[place[-1]]
    else:
        section[place[-1]] = encode(lie, prefix, tensors)
    return manifest, tensors


def works(model: Any, new: np.ndarray, finite: bool = True) -> None:
    """Raises unless every method gives finite numbers, or one of lowdim's errors."""
    for method in ("transform", "inverse_transform", "reconstruction_error", "score_samples", "get_feature_names_out"):
        if not hasattr(model, method):
            continue
        try:
            k = getattr(model, "model_", model)._n_features_out
            given = {"transform": (new,), "inverse_transform": (np.zeros((2, k)),), "get_feature_names_out": ()}
            takes_rows = method == "score_samples" or isinstance(model, lowdim.PCA)
            out = getattr(model, method)(*given.get(method, (new,) if takes_rows else ()))
        except LowdimError:
            continue
        if method == "transform":
            assert out.shape == (len(new), k)
        if finite and np.asarray(out).dtype != object:  # names, and rows with categories
            assert np.isfinite(out).all(), f"{method} gave {out}"
    for name in ("n_connected_components_", "graph_"):
        getattr(model, name, None)


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_lie_in_one_field_is_refused_or_does_no_harm(name):
    new, harm = FITS[name][2], []
    manifest, tensors = parts(name)
    works(restore(*(copy.deepcopy(part) for part in (manifest, tensors))), new)
    for place in fields(manifest):
        section: Any = manifest
        for key in place:
            section = section[key]
        for kind, lie in lies(section, tensors, tensor_name(place)).items():
            try:
                model = restore(*told(name, place, lie))
            except ModelFileError:
                continue
            try:
                works(model, new)
            except Exception as error:  # every other error is what this test is for
                harm.append(f"{tensor_name(place)}, {kind}: {type(error).__name__}: {str(error)[:120]}")
    assert not harm, "\n".join([f"{len(harm)} lies do harm", *harm])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", FITS)
def test_another_parameter_is_refused_or_does_no_harm(name):
    """A parameter says how to read what was fitted, so a file may also lie about it."""
    new, harm = FITS[name][2], []
    manifest, _ = parts(name)
    declared = parameters(estimators()[manifest["class"]])
    for key, value in manifest["parameters"].items():
        for other in CANDIDATES:
            if other == value or not declared[key].domain.accepts(other):
                continue
            try:
                model = restore(*told(name, ("parameters", key), other))
            except ModelFileError:
                continue
            try:
                works(model, new, finite=False)
            except Exception as error:  # every other error is what this test is for
                harm.append(f"{key} = {other!r}: {type(error).__name__}: {str(error)[:120]}")
    assert not harm, "\n".join([f"{len(harm)} lies do harm", *harm])


def test_every_estimator_is_fitted_here():
    assert {type(make()).__name__ for make, _, _ in FITS.values()} >= {method.name for method in lowdim.methods()}


def test_a_file_with_a_lie_is_refused_by_load(tmp_path):
    manifest, tensors = told("UMAP", ("fitted", "n_epochs_"), 2**31)
    write_container(str(tmp_path / "model"), to_text(manifest, tensors), tensors)
    with pytest.raises(ModelFileError, match=r"n_epochs_ must be a whole number from 1 to 1000000"):
        load(tmp_path / "model")
