"""Linear methods: PCA, LDA, sufficient dimension reduction, ICA. Imports `base` and below."""
