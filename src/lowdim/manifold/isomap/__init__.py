"""isomap."""
