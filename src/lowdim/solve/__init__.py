"""The few solvers behind the many methods."""
