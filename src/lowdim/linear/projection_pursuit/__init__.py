"""Projection pursuit: indices, their optimization on the Stiefel manifold, structure removal, significance."""
