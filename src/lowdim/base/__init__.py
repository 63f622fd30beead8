"""The base of all estimators, of the linear ones, and `Standardized`. Imports `decomposition` and below."""
