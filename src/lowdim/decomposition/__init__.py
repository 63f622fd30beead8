"""Decompositions that several methods share: principal axes, PPCA by EM, Gram matrices, classical scaling, Gower.

Imports `summaries`, `linalg` and below.
"""
