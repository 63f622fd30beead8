"""Dimensionality reduction: which picture, how many dimensions, and how far to trust it.

    from lowdim import PCA
    Z = PCA(2).fit_transform(X)

Everything is imported when it is first used, so `import lowdim` costs little more than NumPy. The public names stand in
`__init__.pyi`, and nowhere else.
"""

from lowdim.runtime.lazy_exports import attach

__version__ = "0.1.0"

_EXPORTS, __getattr__, _names = attach(__name__, __file__)
__all__ = _names()


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
