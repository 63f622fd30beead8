"""Kernel PCA, with its Nyström form and its pre-images. Imports `base` and below."""
