"""kernel_pca."""
