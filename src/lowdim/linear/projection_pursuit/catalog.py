"""The projection indices by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim.linear.projection_pursuit.class_indices import LdaIndex, PdaIndex
from lowdim.linear.projection_pursuit.density_indices import FriedmanTukey, Legendre
from lowdim.linear.projection_pursuit.indices import FunctionIndex, ProjectionIndex
from lowdim.linear.projection_pursuit.moment_indices import (
    CentralMass,
    Holes,
    Kurtosis,
    Moment,
    Negentropy,
    Skewness,
)
from lowdim.runtime.param import Choice, Either, Such

__all__ = ["INDEX_NAMES", "SUPERVISED", "index_domain", "make_index"]

PLAIN: dict[str, type[ProjectionIndex]] = {
    "holes": Holes,
    "central_mass": CentralMass,
    "negentropy": Negentropy,
    "moment": Moment,
    "kurtosis": Kurtosis,
    "skewness": Skewness,
    "lda": LdaIndex,
}
INDEX_NAMES = (*PLAIN, "friedman_tukey", "legendre", "pda")
SUPERVISED = ("lda", "pda")

index_domain = Either(
    Choice(*INDEX_NAMES),
    Such("a function of scores", lambda value: callable(value) and not isinstance(value, type)),
)


def make_index(
    index: str | Callable[[Any], float], *, order: int = 6, bandwidth: float | None = None, penalty: float = 0.1
) -> ProjectionIndex:
    """The index of this name with its parameters, or that of a function."""
    if not isinstance(index, str):
        return FunctionIndex(index)
    if index == "friedman_tukey":
        return FriedmanTukey(bandwidth)
    if index == "legendre":
        return Legendre(order)
    return PdaIndex(penalty) if index == "pda" else PLAIN[index]()
