"""Distances: metrics by name, condensed tables of all pairs, checks of given distances. Imports `linalg` and below."""
