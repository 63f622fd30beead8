"""Parameters, threads, progress, random draws, memory and atomic writes. Imports `errors` alone."""
