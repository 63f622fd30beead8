"""Linear methods: PCA, ICA. Imports `base` and below."""
