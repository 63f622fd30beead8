"""What every estimator is, what all linear ones share, and `Standardized`. Imports `decomposition` and below."""
