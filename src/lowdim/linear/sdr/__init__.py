"""Sufficient dimension reduction: SIR, SAVE, principal Hessian directions, directional regression, localized SIR."""
