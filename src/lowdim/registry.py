"""The registry behind `lowdim.methods()`: every estimator, found in the table of exports.

It lies above the methods, which know nothing of it: `@estimator` leaves a `Method` on the class, which is read here.
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches

import lowdim
from lowdim.base.estimator import Method
from lowdim.errors import BadParameter

__all__ = ["exported_method", "find_method", "methods", "traits"]

# The packages of the methods.
FAMILIES = ("lowdim.kernel_pca.", "lowdim.linear.", "lowdim.manifold.", "lowdim.mds.", "lowdim.neighbor_embedding.")


def methods() -> list[Method]:
    """Every method of lowdim and its traits, in alphabetical order."""
    found = [_method(name) for name in _names()]
    return sorted((method for method in found if method is not None), key=lambda method: method.name)


# Methods of other packages, and lowdim's nearest.
PEER_METHODS = {
    "pacmap": "umap or tsne",
    "localmap": "umap or tsne",
    "trimap": "umap or tsne",
    "largevis": "umap or tsne",
    "ncvis": "umap or tsne",
    "phate": "laplacianeigenmaps with --diffusion-time, a diffusion map",
    "diffusionmap": "laplacianeigenmaps with --diffusion-time",
    "spectralembedding": "laplacianeigenmaps",
    "spectral": "laplacianeigenmaps",
    "densmap": "umap with --densmap",
    "parametricumap": "umap",
    "opentsne": "tsne",
    "fitsne": "tsne",
    "multicoretsne": "tsne",
    "locallylinearembedding": "lle",
    "hlle": "lle with method='hessian' (in Python)",
    "hessianlle": "lle with method='hessian' (in Python)",
    "ltsa": "lle with method='ltsa' (in Python)",
    "fastica": "ica",
    "picard": "ica",
    "lineardiscriminantanalysis": "lda",
    "fda": "lda",
    "dr": "directionalregression",
    "incrementalpca": "pca, which reads files and streams chunk by chunk",
    "sparsepca": "pca",
    "randomizedpca": "pca with --solver krylov",
    "ppca": "pca",
    "svd": "pca",
    "factoranalysis": "pca",
    "kpca": "kernelpca",
    "nystroem": "kernelpca with --solver nystrom",
    "pcoa": "classicalmds",
    "cmdscale": "classicalmds",
    "torgerson": "classicalmds",
    "landmarkmds": "classicalmds with --n-landmarks",
    "smacof": "mds",
    "metricmds": "mds",
    "isomds": "nonmetricmds",
    "nmds": "nonmetricmds",
    "metamds": "nonmetricmds",
    "autoencoder": "umap, which has an inverse",
}


def find_method(name: str) -> Method:
    """The method of that name; case, hyphens and underscores don't matter. It alone is imported."""
    plain = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    exported = next((known for known in _names() if known.lower() == plain), None)
    found = None if exported is None else _method(exported)
    if found is None and plain in PEER_METHODS:
        raise BadParameter(
            f"there is no method {name!r} in lowdim; nearest to it is {PEER_METHODS[plain]}. `lowdim methods` "
            "describes each."
        )
    if found is None:
        known = [method.name.lower() for method in methods()]
        tries = (get_close_matches(name.lower(), known, 3, cutoff) for cutoff in (0.7, 0.4))
        near = next(filter(None, tries), [])
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Methods: {', '.join(known)}."
        raise BadParameter(f"there is no method {name!r}. {hint} `lowdim methods` describes each.")
    return found


def exported_method(name: str) -> Method | None:
    """The method that is exported under exactly this name, if there is one. It alone is imported."""
    return _method(name) if name in _names() else None


def _names() -> list[str]:
    """Public names from the packages of the methods; some of them are functions."""
    return [name for name, module in lowdim._EXPORTS.items() if module.startswith(FAMILIES)]


def _method(name: str) -> Method | None:
    method: Method | None = getattr(getattr(lowdim, name), "_method", None)
    return method


def traits(method: Method) -> dict[str, bool]:
    """What a method supports, by the names of the fields of Method."""
    return {field.name: bool(getattr(method, field.name)) for field in fields(method) if field.type == "bool"}
