"""Summaries that methods read instead of the data: `Moments` and `Gram`.

Imports `kernels` and below; `knn` is a sibling.
"""
