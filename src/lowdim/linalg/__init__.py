"""linalg."""
