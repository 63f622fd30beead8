"""Feature selection: filters, wrappers around any scikit-learn estimator, and all of them side by side.

    Z = select.MRMR(k=10).fit_transform(X, y)
    print(select.compare(X, y))

Every selector is a scikit-learn selector: `get_support`, pipelines, `set_output`. The public names stand in
`__init__.pyi`. Imports `base`, `knn`, `summaries` and below.
"""

from lowdim.runtime.lazy_exports import attach

_EXPORTS, __getattr__, __dir__ = attach(__name__, __file__)
__all__ = __dir__()
