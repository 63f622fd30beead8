"""Isomap, Laplacian eigenmaps and the LLE family. Imports `base` and below."""
