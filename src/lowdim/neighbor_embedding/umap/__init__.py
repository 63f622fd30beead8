"""UMAP: fuzzy graph, stochastic gradient descent with negative samples, densMAP."""
