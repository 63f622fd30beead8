"""Linear discriminant analysis: the estimator, the discriminant axes, and the within-class whitening beneath them."""
