"""Multidimensional scaling: classical, metric (SMACOF, SSTRESS, SGD) and nonmetric. Imports `base` and below."""
