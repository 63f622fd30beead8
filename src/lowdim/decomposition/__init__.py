"""What several methods decompose: principal axes, probabilistic PCA by EM, Gram matrices, classical scaling.

Imports `summaries`, `linalg` and below.
"""
