"""Linear methods: PCA and sufficient dimension reduction. Imports `base` and below."""
