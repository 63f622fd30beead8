"""Data: rows of any source, the fold over their chunks, tables, files, data sets, validation, duplicate rows.

Imports `runtime` and `errors`.
"""
