"""t-SNE and UMAP, over one resumable optimizer loop. Imports `base` and below."""
