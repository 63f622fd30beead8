"""How each method is set for a table: its parameters with their reasons, and when to prefer it to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowdim.advice._evidence import Evidence
from lowdim.runtime.display import count, rounded

__all__ = ["WHEN", "Setting", "Suggestion", "is_feasible", "suggest"]

WIDE = 50  # columns above which neighbors are searched among principal components
MOST_FIRST = 50  # of those components
MANY_ROWS = 10_000  # from which UMAP takes more neighbors, and pairwise methods take landmarks
PERPLEXITY, NEIGHBORS, MORE_NEIGHBORS = 30, 15, 30
LANDMARKS = 1000
LATENT = 100  # components of text
MOST_SHOWN = 10  # components of a table that none of its rules limits


@dataclass(frozen=True)
class Setting:
    """A parameter, its value, and why."""

    name: str
    value: Any
    reason: str


@dataclass(frozen=True)
class Suggestion:
    """A method and how to set it, and, before it, the principal components that it is given."""

    method: str
    settings: tuple[Setting, ...] = ()
    components_first: int | None = None  # principal components that replace the columns
    standardize: bool | None = None  # None: there are no columns, or the method weighs them itself
    when: str = ""  # to prefer it

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {setting.name: setting.value for setting in self.settings}

    @property
    def n_components(self) -> Any:
        """The number of dimensions: a number, or "auto" where the method decides."""
        return self.parameters.get("n_components", 2)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "method": self.method,
            "n_components": self.n_components,
            "parameters": self.parameters,
            "reasons": {setting.name: setting.reason for setting in self.settings},
            "principal_components_first": self.components_first,
            "standardize": self.standardize,
            "when": self.when,
        }


@dataclass(frozen=True)
class _Plan:
    """How a method is set."""

    settings: Callable[[Evidence], list[Setting]]
    scaled: bool = True  # whether standardizing is up to the caller
    neighbors: bool = False  # whether it searches neighbors, which principal components make easier
    most_rows: int | None = None  # beyond which it takes too long or too much memory


def _dimensions(k: int | str, reason: str) -> Setting:
    return Setting("n_components", k, reason)


PICTURE = "a picture has two"


def _pca(e: Evidence) -> list[Setting]:
    k, most = e.linear, e.most_components
    if k is not None and k >= 2:
        kept = f"{count(k, 'component')} stand out from shuffled columns"
        settings = [_dimensions(min(k, most), kept)]
    elif k is None and most > MOST_SHOWN:
        settings = [_dimensions(MOST_SHOWN, "a start; `lowdim choose` counts those worth keeping")]
    else:
        settings = [_dimensions(min(2, most), PICTURE if most > 1 else "the rows span no more")]
    if e.missing:
        settings.append(Setting("missing", "em", f"{e.missing:.1%} of the values are missing; EM estimates them"))
    return settings


def _isomap(e: Evidence) -> list[Setting]:
    d = max(1, round(e.intrinsic or 2))
    settings = [
        _dimensions(min(d, max(e.columns, 1)), f"the intrinsic dimension is about {rounded(e.intrinsic or 2, 2)}")
    ]
    if e.rows > MANY_ROWS:
        settings.append(Setting("n_landmarks", LANDMARKS, f"geodesics between all {e.rows:,} rows are too many"))
    return settings


def _umap(e: Evidence) -> list[Setting]:
    settings = [_dimensions(2, PICTURE), *_cosine(e)]
    if e.rows > MANY_ROWS:
        settings.append(Setting("n_neighbors", MORE_NEIGHBORS, "so many rows fall into fewer pieces with more of them"))
    elif e.rows < 4 * NEIGHBORS:
        settings.append(Setting("n_neighbors", max(2, min(e.rows - 1, e.rows // 4)), "a quarter of the rows"))
    return settings


def _tsne(e: Evidence) -> list[Setting]:
    settings = [_dimensions(2, PICTURE), *_cosine(e)]
    if e.rows < 3 * PERPLEXITY + 4:
        settings.append(Setting("perplexity", max(2, (e.rows - 1) // 3), "at most a third of the rows"))
    return settings


def _cosine(e: Evidence) -> list[Setting]:
    if e.kind == "distances":
        return [Setting("metric", "precomputed", "the table holds distances")]
    if e.categories:
        return [Setting("metric", "gower", "it compares numbers, categories and gaps")]
    if e.counts or e.sparse:
        return [Setting("metric", "cosine", "it compares what rows are about, not how long they are")]
    return []


def _scaling(e: Evidence) -> list[Setting]:
    k = max(2, min(e.distance_dimensions or 2, MOST_SHOWN))
    most = max(1, e.rows - 1)
    known = e.distance_dimensions is not None
    reason = f"they represent {0.9:.0%} of the distances' inner products" if known and k > 2 else PICTURE
    return [_dimensions(min(k, most), reason), *_cosine(e)]


def _lle(e: Evidence) -> list[Setting]:
    return [_isomap(e)[0]]


def _lda(e: Evidence) -> list[Setting]:
    most = max(1, min((e.classes or 2) - 1, e.columns))
    settings = [_dimensions(most, f"{count(e.classes or 2, 'class', 'classes')} span no more")]
    if e.rows < 5 * e.columns:
        few = f"{count(e.rows, 'row')} are few for the covariance of {count(e.columns, 'column')}"
        settings.append(Setting("shrinkage", "ledoit-wolf", few))
    return settings


def _sdr(_: Evidence) -> list[Setting]:
    return [_dimensions("auto", "by a test of how many directions matter")]


def _truncated(e: Evidence) -> list[Setting]:
    return [_dimensions(max(1, min(LATENT, e.columns - 1, e.rows - 1)), "usual for text and counts")]


def _correspondence(e: Evidence) -> list[Setting]:
    settings = [_dimensions(2, PICTURE)]
    if e.blanks:
        settings.append(Setting("handle_missing", "category", "a missing answer is an answer of its own"))
    return settings


def _plain(_: Evidence) -> list[Setting]:
    return [_dimensions(2, PICTURE)]


PLANS = {
    "PCA": _Plan(_pca),
    "Isomap": _Plan(_isomap, neighbors=True),
    "LLE": _Plan(_lle, neighbors=True, most_rows=50_000),
    "UMAP": _Plan(_umap, neighbors=True),
    "TSNE": _Plan(_tsne, neighbors=True),
    "ClassicalMDS": _Plan(_scaling),
    "MDS": _Plan(_scaling, most_rows=10_000),
    "NonmetricMDS": _Plan(_scaling, most_rows=5_000),
    "LDA": _Plan(_lda),
    "SIR": _Plan(_sdr),
    "DirectionalRegression": _Plan(_sdr),
    "TruncatedSVD": _Plan(_truncated, scaled=False),
    "CA": _Plan(_plain, scaled=False),
    "MCA": _Plan(_correspondence, scaled=False),
    "FAMD": _Plan(_correspondence, scaled=False),
    "KernelPCA": _Plan(_plain, most_rows=20_000),
    "ProjectionPursuit": _Plan(_plain, most_rows=100_000),
}

# When to prefer a method to the first choice.
WHEN = {
    "PCA": "to read axes as sums of columns, to keep distances, or as a check of what a nonlinear map shows",
    "Isomap": "to see distances along a curved surface",
    "LLE": "if distances along the surface matter less than its local shape",
    "UMAP": "to see groups and neighbors; distances between groups can't be read",
    "TSNE": "for the finest local detail; sizes of groups and distances between them can't be read",
    "ClassicalMDS": "if distances are Euclidean, or nearly so; it needs no iteration",
    "MDS": "if every distance counts alike: it minimizes stress",
    "NonmetricMDS": "if the order of the distances matters, but not their size",
    "LDA": "to see the directions that separate the classes; it knows them, so a separation proves little",
    "SIR": "to see the directions that the numbers to explain depend on",
    "DirectionalRegression": "if the dependence may be symmetric, as of a square, which SIR can't see",
    "TruncatedSVD": "to have features for a classifier or a search",
    "CA": "if the cells are counts of a contingency table",
    "MCA": "to treat every answer as a category of its own",
    "FAMD": "to give numbers and categories the same weight",
    "KernelPCA": "to separate shapes that lie inside one another, with a kernel of your choice",
    "ProjectionPursuit": "to test for structure that variance does not show; it gives a p-value",
}


def is_feasible(method: str, e: Evidence) -> bool:
    """Whether the method can be run on so many rows."""
    most = PLANS[method].most_rows
    return most is None or e.rows <= most


def suggest(method: str, e: Evidence, **changes: Any) -> Suggestion:
    """The method as it should be set for this evidence."""
    plan = PLANS[method]
    by_metric = any(setting.name == "metric" for setting in plan.settings(e))
    wide = plan.neighbors and e.columns > WIDE
    gaps = bool(e.missing) and plan.scaled and method != "PCA"  # which principal components by EM leave behind
    first = _components_first(e) if (wide or gaps) and not by_metric else None
    standardize = e.standardized if plan.scaled and e.kind == "rows" and not by_metric else None
    return Suggestion(method, tuple(plan.settings(e)), first, standardize, WHEN[method], **changes)


def _components_first(e: Evidence) -> int:
    """Components that keep 95% of the variance, and all that stand out from noise; 50 at most."""
    wanted = max(e.most_variance or MOST_FIRST, e.linear or 0, 2)
    return max(1, min(wanted, MOST_FIRST, e.most_components))
