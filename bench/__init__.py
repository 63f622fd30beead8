"""Side-by-side runs against the peers: `make bench`, or `make bench BENCH="pca-tall pca-wide"`."""
