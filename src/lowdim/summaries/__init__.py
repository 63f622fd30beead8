"""What methods read instead of the data: moments, and the centred rows that are never formed."""
