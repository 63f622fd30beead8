"""distance."""
