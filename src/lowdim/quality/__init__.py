"""Can this picture be trusted? Measures of an embedding, for the whole map and for every point, beside baselines.

    q = lowdim.quality.measure(X, Z)
    print(q)
    q.verdict()                      # two sentences: near neighbors, far distances
    q.point_words(7)                 # what the figures say of one point

`table` measures several maps in one pass over the original space, `null` and `stability` fit a method again (to
shuffled columns; with other seeds or on resamples), `singularity` finds where t-SNE and UMAP tear a map. The public
names stand in `__init__.pyi`. Imports `neighbor_embedding`, `linear` and below.
"""

from lowdim.runtime.lazy_exports import attach

_EXPORTS, __getattr__, __dir__ = attach(__name__, __file__)
__all__ = __dir__()
