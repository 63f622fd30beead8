"""Nearest neighbors: exact and approximate search, the k-NN graph, Borůvka edges, neighbors of fitted rows.

Imports `kernels`, `distance`, `linalg` and below; `summaries` is a sibling.
"""
