"""Laplacian eigenmaps: eigenvectors of the graph Laplacian with the smallest eigenvalues."""
