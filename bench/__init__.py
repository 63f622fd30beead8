"""Benchmarks against other libraries: `make bench`, or `make bench BENCH="pca-tall pca-wide"`."""
