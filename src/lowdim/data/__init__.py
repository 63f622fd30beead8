"""Data: rows of any source, the fold over their chunks, tables, files, data sets; validation, ownership, duplicates.

Imports `runtime` and `errors`.
"""
