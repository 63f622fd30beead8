"""laplacian."""
