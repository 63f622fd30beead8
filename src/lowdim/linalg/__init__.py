"""Numerical linear algebra: dense and sparse eigensolvers, Lanczos, Chebyshev filters, components, centering.

Every numeric routine stands here once. Imports `data` (rows) and below.
"""
