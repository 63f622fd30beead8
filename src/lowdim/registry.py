"""The registry behind `lowdim.methods()`: every estimator, found in the table of exports.

It stands above the methods, which know nothing of it: `@estimator` leaves a line on the class, and it is read here.
"""

from __future__ import annotations

import lowdim
from lowdim.base.estimator import Method

__all__ = ["methods"]

# The rooms of the methods.
FAMILIES = ("lowdim.kernel_pca.", "lowdim.linear.", "lowdim.manifold.", "lowdim.mds.", "lowdim.neighbor_embedding.")


def methods() -> list[Method]:
    """Every method that lowdim has, with what it can do, in alphabetical order."""
    names = [name for name, module in lowdim._EXPORTS.items() if module.startswith(FAMILIES)]
    found = [getattr(getattr(lowdim, name), "_method", None) for name in names]
    return sorted((method for method in found if method is not None), key=lambda method: method.name)
