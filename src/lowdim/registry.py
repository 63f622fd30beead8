"""The registry behind `lowdim.methods()`: every estimator, found in the table of exports.

It lies above the methods, which know nothing of it: `@estimator` leaves a `Method` on the class, which is read here.
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches

import lowdim
from lowdim.base.estimator import Method
from lowdim.errors import BadParameter

__all__ = ["find_method", "methods", "traits"]

# The packages of the methods.
FAMILIES = ("lowdim.kernel_pca.", "lowdim.linear.", "lowdim.manifold.", "lowdim.mds.", "lowdim.neighbor_embedding.")


def methods() -> list[Method]:
    """Every method of lowdim and its traits, in alphabetical order."""
    names = [name for name, module in lowdim._EXPORTS.items() if module.startswith(FAMILIES)]
    found = [getattr(getattr(lowdim, name), "_method", None) for name in names]
    return sorted((method for method in found if method is not None), key=lambda method: method.name)


def find_method(name: str) -> Method:
    """The method of that name; case, hyphens and underscores don't matter."""
    known = {method.name.lower(): method for method in methods()}
    found = known.get(name.lower().replace("-", "").replace("_", ""))
    if found is None:
        near = get_close_matches(name.lower(), known, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Methods: {', '.join(known)}."
        raise BadParameter(f"there is no method {name!r}. {hint} `lowdim methods` describes each.")
    return found


def traits(method: Method) -> dict[str, bool]:
    """What a method supports, by the names of the fields of Method."""
    return {field.name: bool(getattr(method, field.name)) for field in fields(method) if field.type == "bool"}
