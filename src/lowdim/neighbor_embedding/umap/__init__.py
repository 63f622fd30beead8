"""umap."""
