"""Linear methods: PCA, projection pursuit, tours. Imports `base` and below."""
