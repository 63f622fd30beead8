"""Reading and writing tables: delimited text, Parquet, Arrow and NumPy files, one module per format.

Imports the rest of `data`, `runtime` and `errors`.
"""
