"""Tables from files and into files: one module per format. Imports `data` and below."""
