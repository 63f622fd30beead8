"""Independent component analysis: FastICA, Picard, and the stability of their components."""
