"""t-SNE: affinities by perplexity, gradient descent with FFT or Barnes-Hut repulsion."""
