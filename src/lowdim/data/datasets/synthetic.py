"""Synthetic data sets: shapes with a known ground truth, drawn from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import Table, default_names
from lowdim.runtime.random import Seed, seed_of

__all__ = ["clusters", "draw_subspaces", "faces", "rings", "scurve", "spiral", "subspaces", "swissroll"]

Array = NDArray[Any]


def rings(n: int = 400, rings: int = 2, gap: float = 3.0, noise: float = 0.05, random_state: Seed = 0) -> Table:
    """Concentric rings of radius 1, 1 + gap, …; the label is the ring.

    With the default gap, a Gaussian kernel with the default bandwidth is wider than a ring and narrower than the gap:
    the first component of kernel PCA then separates the rings.
    """
    rng = _rng(random_state)
    ring = np.arange(n) % rings
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + gap * ring + noise * rng.normal(size=n)
    return Table(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), ("x", "y"), ring, "ring")


def spiral(n: int = 500, turns: float = 2.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """The spiral r = t, uniform along its length; the label is the arc length. Noise is normal to the curve."""
    rng = _rng(random_state)
    roll = _Spiral.uniform(rng, n, np.pi / 2, np.pi / 2 + 2 * np.pi * turns)
    return Table(roll.points + noise * rng.normal(size=(n, 1)) * roll.normals, ("x", "y"), roll.length, "arc length")


def swissroll(n: int = 1000, height: float = 20.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """The Swiss roll, uniform in area; the label is the arc length, and the column `height` the other coordinate.

    Noise is normal to the surface, so both true coordinates stay exact.
    """
    rng = _rng(random_state)
    roll = _Spiral.uniform(rng, n, 1.5 * np.pi, 4.5 * np.pi)
    return _sheet(roll.points, roll.normals, roll.length, rng.uniform(0, height, n), noise * rng.normal(size=(n, 1)))


def scurve(n: int = 1000, height: float = 2.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """The S-curve, uniform in area; the label is the arc length, and the column `height` the other coordinate.

    Noise is normal to the surface, so both true coordinates stay exact.
    """
    rng = _rng(random_state)
    t = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, n)  # two circles of radius 1: the angle is the arc length
    side = np.sign(t)
    points = np.column_stack([np.sin(t), side * (np.cos(t) - 1)])
    normals = np.column_stack([side * np.sin(t), np.cos(t)])
    return _sheet(points, normals, t + 1.5 * np.pi, rng.uniform(0, height, n), noise * rng.normal(size=(n, 1)))


def clusters(
    n: int = 300,
    d: int = 10,
    clusters: int = 5,
    separation: float = 6.0,
    noise: float = 1.0,
    random_state: Seed = 0,
) -> Table:
    """Isotropic Gaussian clusters with standard deviation `noise` and centers about `separation` apart."""
    rng = _rng(random_state)
    # Two normal points of variance s² in d dimensions are about s √(2d) apart.
    centers = rng.normal(size=(clusters, d)) * separation / np.sqrt(2 * d)
    label = rng.permutation(np.arange(n) % clusters)
    return Table(centers[label] + noise * rng.normal(size=(n, d)), default_names(d), label, "cluster")


def subspaces(n: int = 1000, d: int = 10, clusters: int = 3, noise: float = 0.1, random_state: Seed = 0) -> Table:
    """Clusters in 4 columns each (or all, if there are fewer) of uniform data; the label is the cluster, -1 noise."""
    X, label, _ = draw_subspaces(n, d, clusters, min(4, d), 0.1, min(noise, 1.0), random_state)
    return Table(X, default_names(d), label, "cluster")


def draw_subspaces(
    n: int, d: int, clusters: int, dimensions: int, width: float, noise: float, random_state: Seed
) -> tuple[Array, NDArray[np.int64], list[Array]]:
    """Uniform rows in 0…1, with clusters in random columns: rows (n, d), labels (n,), and the columns of each cluster.

    In its columns a cluster is uniform in a box of side `width`.
    """
    rng = _rng(random_state)
    inside = n - round(noise * n)
    label = np.full(n, -1, dtype=np.int64)
    label[rng.permutation(n)[:inside]] = np.arange(inside) % clusters
    X, own = rng.uniform(size=(n, d)), []
    for cluster in range(clusters):
        columns = np.sort(rng.choice(d, dimensions, replace=False))
        centers = rng.uniform(width / 2, 1 - width / 2, dimensions)
        rows = np.flatnonzero(label == cluster)
        X[np.ix_(rows, columns)] = centers + width * rng.uniform(-0.5, 0.5, (len(rows), dimensions))
        own.append(columns)
    return X, label, own


def faces(n: int = 400, people: int = 40, size: int = 32, noise: float = 0.02, random_state: Seed = 0) -> Table:
    """Face-like images with values in 0…1: features vary between people; pose, smile and light vary between images."""
    rng = _rng(random_state)
    person = np.arange(n) % people
    images = _draw_faces(_draw_factors(rng, people, PERSON, person), _draw_factors(rng, n, IMAGE), size)
    images = np.clip(images + noise * rng.normal(size=images.shape), 0, 1)
    names = tuple(f"p{row}_{column}" for row in range(size) for column in range(size))
    return Table(images.reshape(n, -1), names, person, "person", image_shape=(size, size))


# Factors of variation and their ranges; lengths are in half widths of the image.
PERSON = {
    "width": (0.55, 0.75),
    "height": (0.75, 0.92),
    "tone": (0.55, 0.9),
    "eye_gap": (0.2, 0.32),
    "eye_size": (0.06, 0.11),
    "eye_level": (-0.25, -0.1),
    "mouth_width": (0.16, 0.32),
    "mouth_level": (0.35, 0.5),
    "brow": (0.1, 0.2),
    "hair": (-0.75, -0.4),
}
IMAGE = {"turn": (-0.15, 0.15), "smile": (-0.12, 0.2), "light": (-0.25, 0.25)}


def _draw_faces(person: dict[str, Array], image: dict[str, Array], size: int) -> Array:
    """Images (n, size, size): smooth shapes on top of each other, each a function of the factors."""
    line = np.linspace(-1, 1, size)
    y, x = line[None, :, None], line[None, None, :]
    f, p = person, image
    inner = x - p["turn"]  # when the head turns, features shift more than the outline
    head = _smooth_step(1 - np.hypot((x - 0.3 * p["turn"]) / f["width"], y / f["height"]), 0.06)
    hair = head * _smooth_step(f["hair"] - y + 0.15 * x**2, 0.05)
    eyes = sum(_blob(inner - s * f["eye_gap"], y - f["eye_level"], f["eye_size"], 0.7 * f["eye_size"]) for s in (-1, 1))
    brows = sum(
        _blob(inner - s * f["eye_gap"], y - f["eye_level"] + f["brow"], 1.6 * f["eye_size"], 0.03) for s in (-1, 1)
    )
    nose = _blob(inner - 0.3 * p["turn"], y - 0.12, 0.05, 0.14)
    curve = p["smile"] * (1 - (inner / f["mouth_width"]) ** 2)  # in a smile the corners stay and the middle drops
    mouth = _blob(inner, y - f["mouth_level"] - curve, f["mouth_width"], 0.05)
    skin = f["tone"] * (1 + p["light"] * x) - 0.15 * nose - 0.3 * brows - 0.45 * eyes - 0.35 * mouth
    return np.asarray(0.1 + head * (skin - 0.1) * (1 - 0.75 * hair / np.maximum(head, 1e-9)))


def _smooth_step(x: Array, width: float) -> Array:
    """A smooth step from 0 (x < 0) to 1 (x > 0)."""
    return 0.5 * (1 + np.tanh(x / width))


def _blob(x: Array, y: Array, a: Array | float, b: Array | float) -> Array:
    return np.exp(-((x / a) ** 2) - (y / b) ** 2)


def _draw_factors(
    rng: np.random.Generator, count: int, ranges: dict[str, tuple[float, float]], pick: Any = slice(None)
) -> dict[str, Array]:
    """A uniform draw of each factor, (n, 1, 1)."""
    return {name: rng.uniform(low, high, count)[pick, None, None] for name, (low, high) in ranges.items()}


class _Spiral:
    """Points of the spiral r = t with their unit normals and arc lengths."""

    def __init__(self, t: Array, start: float) -> None:
        c, s = np.cos(t), np.sin(t)
        self.points = np.column_stack([t * c, t * s])
        self.normals = np.column_stack([s + t * c, t * s - c]) / np.sqrt(1 + t**2)[:, None]
        self.length = _arc_length(t) - _arc_length(np.asarray(start))

    @classmethod
    def uniform(cls, rng: np.random.Generator, n: int, start: float, stop: float) -> _Spiral:
        """Uniform along the length, by interpolating the inverse of the arc length; the lengths returned are exact."""
        grid = np.linspace(start, stop, 10_001)
        lengths = _arc_length(grid)
        return cls(np.interp(rng.uniform(lengths[0], lengths[-1], n), lengths, grid), start)


def _arc_length(t: Array) -> Array:
    """∫ √(1 + t²) dt, from 0."""
    return np.asarray(0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t)))


def _sheet(points: Array, normals: Array, length: Array, height: Array, off: Array) -> Table:
    x, z = (points + off * normals).T
    return Table(np.column_stack([x, height, z]), ("x", "height", "z"), length, "arc length")


def _rng(random_state: Seed) -> np.random.Generator:
    return np.random.default_rng(seed_of(random_state))
