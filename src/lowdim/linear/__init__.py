"""Linear methods: PCA, LDA, sufficient dimension reduction, ICA, projection pursuit. Imports `base` and below."""
