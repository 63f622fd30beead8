"""Summaries of the data that methods read: `Moments` and `Gram`.

Imports `kernels` and below; `knn` is a sibling.
"""
