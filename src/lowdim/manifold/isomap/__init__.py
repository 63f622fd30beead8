"""Isomap: geodesic distances by shortest paths, then classical scaling."""
