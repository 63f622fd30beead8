"""What the figures say of one point, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowdim.quality._quality import Quality

__all__ = ["point_words"]


def point_words(quality: Quality, i: int) -> list[str]:
    """Sentences about point i."""
    values, k = quality.point_values, quality.k
    kept = round(float(values["neighbor_recall"][i]) * k)
    words = [f"{kept} of its {k} true neighbors are drawn near it."]
    if kept < k:
        words.append(f"{k - kept} of the {k} drawn near it are false.")
    if values.get("neighbor_places") is not None and values["neighbor_places"][i] > 1:
        words.append("Its true neighbors are drawn in two places.")
    if "neighborhood_hit" in values and values["neighborhood_hit"][i] == values["neighborhood_hit"][i]:
        drawn, true = (round(float(values[name][i]) * k) for name in ("neighborhood_hit", "neighborhood_hit_original"))
        words.append(f"{drawn} of the {k} drawn near it have its label, and {true} of its {k} true neighbors.")
    if quality.null is not None:
        words.append(quality.null.point_verdict(i))
    return words
