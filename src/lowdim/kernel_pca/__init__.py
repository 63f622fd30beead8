"""Kernel PCA, its Nyström approximation and its pre-images. Imports `base` and below."""
