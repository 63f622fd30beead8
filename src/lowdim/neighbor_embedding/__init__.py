"""neighbor_embedding."""
