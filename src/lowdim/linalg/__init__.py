"""Numerical linear algebra: eigen solvers, Chebyshev filters, connected components, centered operators.

Every numeric routine stands here once. Imports `data` (rows) and below.
"""
