"""Read, standardize, fit, apply, write: what the command line and the explorer share.

Imports `persistence`, `plot`, `diagnosis` and below.
"""
