"""The table from evidence to advice: the first rule that holds makes the first choice.

Every rule names its reason. The order matters: what the table is (distances, categories, counts) comes before what was
asked (a target), then how many rows there are, and only then the shape of the cloud.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lowdim.advice._evidence import Evidence
from lowdim.runtime.display import count, rounded

__all__ = ["RULES", "AdviceRule", "first_rule"]

TINY = 20  # rows below which there are no neighborhoods to draw
LOW = 3.5  # intrinsic dimension up to which a surface can be flattened
MOST_PAIRS = 10_000  # rows up to which every pair is compared
SEVERAL = 2
ENOUGH = 0.6  # share of the variance of two components that makes a fair picture


@dataclass(frozen=True)
class AdviceRule:
    """If `holds`, start with `first`, because of `reason`; `others` are alternatives."""

    name: str
    holds: Callable[[Evidence], bool]
    reason: Callable[[Evidence], str]
    first: str
    others: tuple[str, ...] = ()


def _two_digits(dimension: float | None) -> str:
    return rounded(dimension or 0.0, 2)


def _flat_reason(e: Evidence) -> str:
    share = "" if e.two_share is None else f"; the first two components hold {e.two_share:.0%} of the variance"
    return f"nothing suggests that the rows are curved: the cloud is linear as far as it was measured{share}"


RULES = (
    AdviceRule(
        "many distances",
        lambda e: e.kind == "distances" and e.rows > MOST_PAIRS,
        lambda e: f"the table holds distances between {e.rows:,} rows, too many to fit every pair",
        "UMAP",
        ("TSNE", "ClassicalMDS"),
    ),
    AdviceRule(
        "distances",
        lambda e: e.kind == "distances",
        lambda _: "the table holds distances between rows, and scaling looks for points that have them",
        "ClassicalMDS",
        ("MDS", "NonmetricMDS"),
    ),
    AdviceRule(
        "categories",
        lambda e: e.categories > 0 and e.columns == 0,
        lambda e: f"all {count(e.categories, 'column')} are categories, whose differences can't be subtracted",
        "MCA",
        ("UMAP",),
    ),
    AdviceRule(
        "mixed with gaps",
        lambda e: e.categories > 0 and e.missing > 0,
        lambda e: f"numbers stand beside categories, and {e.missing:.1%} of the numbers are missing",
        "UMAP",
        ("ClassicalMDS",),
    ),
    AdviceRule(
        "mixed",
        lambda e: e.categories > 0,
        lambda e: f"{count(e.columns, 'column')} of numbers stand beside {count(e.categories, 'column')} of categories",
        "FAMD",
        ("UMAP",),
    ),
    AdviceRule(
        "classes to explain",
        lambda e: e.target == "classes",
        lambda e: f"a target of {e.classes} classes is to be explained",
        "LDA",
        ("UMAP", "PCA"),
    ),
    AdviceRule(
        "numbers to explain",
        lambda e: e.target == "numbers",
        lambda _: "a target of numbers is to be explained",
        "SIR",
        ("DirectionalRegression", "PCA"),
    ),
    AdviceRule(
        "counts",
        lambda e: e.counts or e.sparse,
        lambda _: "most values are zero, as in counts and weights of terms: centering would fill the table",
        "TruncatedSVD",
        ("UMAP", "CA"),
    ),
    AdviceRule(
        "few rows",
        lambda e: e.rows < TINY,
        lambda e: f"{count(e.rows, 'row')} are too few for neighborhoods; a projection shows all there is",
        "PCA",
        (),
    ),
    AdviceRule(
        "few columns",
        lambda e: e.columns <= 2,
        lambda e: f"{count(e.columns, 'column')} can be drawn as they are; PCA only turns them",
        "PCA",
        ("KernelPCA", "Isomap"),
    ),
    AdviceRule(
        "noise",
        lambda e: not e.structured,
        lambda _: "no structure beyond noise was found: no component, no curvature and no group; any map shows noise",
        "PCA",
        ("ProjectionPursuit",),
    ),
    AdviceRule(
        "curved surface",
        lambda e: e.curved and (e.intrinsic or 0) <= LOW and e.groups < SEVERAL,
        lambda e: (
            f"the rows lie on a curved surface: locally they have about {_two_digits(e.intrinsic)} dimensions, where a "
            "normal cloud of the same covariance has "
            f"{_two_digits(e.intrinsic_normal)}, and the density shows no groups"
        ),
        "Isomap",
        ("LLE", "UMAP"),
    ),
    AdviceRule(
        "groups",
        lambda e: e.curved and e.groups >= SEVERAL,
        lambda e: (
            f"the rows form groups (the density has {e.groups} modes) and are not a linear cloud: locally they have "
            f"about {_two_digits(e.intrinsic)} dimensions, a normal cloud of the same covariance "
            f"{_two_digits(e.intrinsic_normal)}"
        ),
        "UMAP",
        ("TSNE", "PCA"),
    ),
    AdviceRule(
        "curved",
        lambda e: e.curved,
        lambda e: (
            f"the rows are not a linear cloud: locally they have about {_two_digits(e.intrinsic)} dimensions, a normal "
            f"cloud of the same covariance {_two_digits(e.intrinsic_normal)}; too many to flatten, but neighbors "
            "can be drawn"
        ),
        "UMAP",
        ("TSNE", "PCA"),
    ),
    AdviceRule(
        "linear groups",
        lambda e: e.groups >= SEVERAL and (e.two_share or 0) < ENOUGH,
        lambda e: f"{_flat_reason(e)}, and the density has {e.groups} modes, which two components may hide",
        "PCA",
        ("UMAP", "TSNE"),
    ),
    AdviceRule("linear", lambda _: True, _flat_reason, "PCA", ("UMAP",)),
)


def first_rule(e: Evidence) -> AdviceRule:
    """The first rule that holds."""
    return next(rule for rule in RULES if rule.holds(e))
