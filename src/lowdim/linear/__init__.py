"""Linear methods: PCA. Imports `base` and below."""
