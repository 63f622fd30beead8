"""Eigenimages: the mean and the components as images, and reconstructions from k components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.base.estimator import Estimator
from lowdim.data.rows import open_rows
from lowdim.errors import BadInput, BadParameter
from lowdim.plot._colors import DIVERGING, FADED
from lowdim.plot._inputs import plain_scores, read_points, require_fitted
from lowdim.plot._theme import SMALL, new_figure, themed
from lowdim.runtime.threads import single_blas

__all__ = ["eigenimages", "reconstruct"]

Array = NDArray[Any]


@themed()
def eigenimages(
    model: Any,
    image_shape: Sequence[int],
    X: Any = None,
    *,
    ks: Sequence[int] = (1, 2, 5, 10, 20, 50),
    n_images: int = 4,
    title: str | None = None,
    figure: Any = None,
) -> NDArray[Any]:
    """Draw the mean image and the first eigenimages and, with X, reconstructions of its first rows from k components.

    The relative error under a reconstruction is ‖x - x̂‖ / ‖x - mean‖: 100% for the mean, 0% for the image itself.

    Parameters
    ----------
    model : a fitted PCA
        Fitted to rows that are images.
    image_shape : (height, width) or (height, width, 3)
        How a row is reshaped into an image, in C order.
    X : table (n, d), optional
        Images to reconstruct.
    ks : numbers of components
        Those above the number that the model has are left out.
    n_images : int
        Number of rows of X to reconstruct.
    title : str, optional
        Above the figure.
    figure : matplotlib figure, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    array of axes (rows of images, columns)
        The first row holds the mean and the components, each other one an original and its reconstructions.

    """
    require_fitted(model, "components_", "mean_")
    shape = _image_shape(image_shape, len(model.mean_))
    counts = sorted({int(k) for k in ks if 0 <= k <= len(model.components_)})
    rows = None if X is None else read_points(X, "X")[: max(n_images, 0)]
    if rows is not None and not counts:
        raise BadParameter(f"ks must have a number from 0 to {len(model.components_)}; got {tuple(ks)!r}.")
    columns = 1 + (len(counts) if rows is not None else min(len(model.components_), 7))
    lines = 1 + (0 if rows is None else len(rows))
    if figure is None:
        figure = new_figure(1.34 * columns + 0.2, 1.56 * lines + 0.3)  # room for the label below each image
    axes: NDArray[Any] = figure.subplots(lines, columns, squeeze=False)
    _draw_components(axes[0], model, shape)
    if rows is not None:
        _draw_reconstructions(axes[1:], model, rows, counts, shape)
    if title:
        figure.suptitle(str(title), x=0.01, ha="left", fontweight="bold", parse_math=False)
    return axes


def reconstruct(model: Any, X: Any, k: int) -> Array:
    """Reconstructions of the rows of X from their first k scores, (n, d), in the units of X."""
    require_fitted(model, "components_", "mean_")
    # Estimators take opened rows without comparing the names of columns, which images here no longer have.
    scores = plain_scores(model, open_rows(X) if isinstance(model, Estimator) else X)[:, :k]
    with single_blas():
        rows = scores @ np.asarray(model.components_, dtype=np.float64)[:k]
    scale = getattr(model, "scale_", None)
    return np.asarray(rows * (1.0 if scale is None else scale) + model.mean_)


def _image_shape(image_shape: Sequence[int], d: int) -> tuple[int, ...]:
    shape = tuple(int(side) for side in image_shape)
    colors = len(shape) == 3 and shape[2] == 3
    if not (len(shape) == 2 or colors) or int(np.prod(shape)) != d or min(shape) < 1:
        raise BadInput(
            f"image_shape must be (height, width) or (height, width, 3) with a product of {d}, the number of "
            f"columns; got {shape}."
        )
    return shape


def _draw_components(axes: NDArray[Any], model: Any, shape: tuple[int, ...]) -> None:
    _show(axes[0], model.mean_.reshape(shape), "mean")
    shares = getattr(model, "explained_variance_ratio_", None)
    for i, ax in enumerate(axes[1:]):
        if i >= len(model.components_):
            ax.set_axis_off()
            continue
        share = "" if shares is None else f" ({float(shares[i]):.0%})"
        _show_signed(ax, model.components_[i].reshape(shape), f"{i + 1}{share}")


def _draw_reconstructions(
    axes: NDArray[Any], model: Any, rows: Array, counts: list[int], shape: tuple[int, ...]
) -> None:
    images = {k: reconstruct(model, rows, k) for k in counts}
    norms = np.linalg.norm(rows - model.mean_, axis=1)
    for i, (line, row) in enumerate(zip(axes, rows, strict=True)):
        limits = (float(row.min()), float(row.max()))
        _show(line[0], row.reshape(shape), "original", limits)
        for ax, k in zip(line[1:], counts, strict=True):
            error = np.linalg.norm(row - images[k][i]) / norms[i] if norms[i] > 0 else 0.0
            _show(ax, images[k][i].reshape(shape), f"k = {k}, error {error:.0%}", limits)


def _show(ax: Any, image: Array, label: str, limits: tuple[float, float] | None = None) -> None:
    low, high = (float(image.min()), float(image.max())) if limits is None else limits
    if image.ndim == 3:
        image = np.clip((image - low) / (high - low if high > low else 1.0), 0, 1)
    _show_image(ax, image, label, cmap="gray", vmin=low, vmax=high if high > low else low + 1.0)


def _show_signed(ax: Any, image: Array, label: str) -> None:
    """A component: zero is white (gray in RGB images), the signs have two colors."""
    limit = float(np.abs(image).max()) or 1.0
    if image.ndim == 3:
        image = 0.5 + image / (2 * limit)
    _show_image(ax, image, label, cmap=DIVERGING, vmin=-limit, vmax=limit)


def _show_image(ax: Any, image: Array, label: str, **colors: Any) -> None:
    ax.imshow(image, interpolation="nearest", **colors)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel(label, fontsize=SMALL, color=FADED, labelpad=2)
