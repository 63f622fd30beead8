"""Data made by code: shapes whose truth is known, from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.table import Table, default_names
from lowdim.runtime.random import Seed, seed_of

__all__ = ["clusters", "faces", "rings", "scurve", "spiral", "swissroll"]

Array = NDArray[Any]


def rings(n: int = 400, rings: int = 2, gap: float = 3.0, noise: float = 0.05, random_state: Seed = 0) -> Table:
    """Rings of radius 1, 1 + gap, … around one centre (lecture 3); the label is the ring.

    Two rings stand far enough apart for a Gaussian of the rows' own spread to be wider than a ring, and narrower
    than the gap: the first axis of kernel PCA is then the ring.
    """
    rng = _rng(random_state)
    ring = np.arange(n) % rings
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + gap * ring + noise * rng.normal(size=n)
    return Table(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), ("x", "y"), ring, "ring")


def spiral(n: int = 500, turns: float = 2.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """A flat spiral r = t (lecture 3), even along its length; the label is the arc length. Noise is across it."""
    rng = _rng(random_state)
    roll = _Roll.even(rng, n, np.pi / 2, np.pi / 2 + 2 * np.pi * turns)
    return Table(roll.points + noise * rng.normal(size=(n, 1)) * roll.normals, ("x", "y"), roll.length, "arc length")


def swissroll(n: int = 1000, height: float = 20.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """A rolled-up rectangle, even in area; the label is the arc length, and the column `height` the other side.

    Noise is across the sheet, so both true coordinates stay exact.
    """
    rng = _rng(random_state)
    roll = _Roll.even(rng, n, 1.5 * np.pi, 4.5 * np.pi)
    return _sheet(roll.points, roll.normals, roll.length, rng.uniform(0, height, n), noise * rng.normal(size=(n, 1)))


def scurve(n: int = 1000, height: float = 2.0, noise: float = 0.0, random_state: Seed = 0) -> Table:
    """A rectangle bent to an S, even in area; the label is the arc length, and the column `height` the other side.

    Noise is across the sheet, so both true coordinates stay exact.
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
    """Round Gaussian clusters with standard deviation `noise` and centres about `separation` apart."""
    rng = _rng(random_state)
    # Two normal points of variance s² in d dimensions are about s √(2d) apart.
    centres = rng.normal(size=(clusters, d)) * separation / np.sqrt(2 * d)
    label = rng.permutation(np.arange(n) % clusters)
    return Table(centres[label] + noise * rng.normal(size=(n, d)), default_names(d), label, "cluster")


def faces(n: int = 400, people: int = 40, size: int = 32, noise: float = 0.02, random_state: Seed = 0) -> Table:
    """Face-like pictures of values 0…1: a person fixes the features, a picture the turn, smile and light."""
    rng = _rng(random_state)
    person = np.arange(n) % people
    images = _draw_faces(_between(rng, people, PERSON, person), _between(rng, n, PICTURE), size)
    images = np.clip(images + noise * rng.normal(size=images.shape), 0, 1)
    names = tuple(f"p{row}_{column}" for row in range(size) for column in range(size))
    return Table(images.reshape(n, -1), names, person, "person", image_shape=(size, size))


# What varies in a face, and between which values; lengths are in half widths of the picture.
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
PICTURE = {"turn": (-0.15, 0.15), "smile": (-0.12, 0.2), "light": (-0.25, 0.25)}


def _draw_faces(person: dict[str, Array], picture: dict[str, Array], size: int) -> Array:
    """(n, size, size): smooth shapes laid over each other, each a function of the factors."""
    line = np.linspace(-1, 1, size)
    y, x = line[None, :, None], line[None, None, :]
    f, p = person, picture
    inner = x - p["turn"]  # features shift more than the outline when a head turns
    head = _soft(1 - np.hypot((x - 0.3 * p["turn"]) / f["width"], y / f["height"]), 0.06)
    hair = head * _soft(f["hair"] - y + 0.15 * x**2, 0.05)
    eyes = sum(_blob(inner - s * f["eye_gap"], y - f["eye_level"], f["eye_size"], 0.7 * f["eye_size"]) for s in (-1, 1))
    brows = sum(
        _blob(inner - s * f["eye_gap"], y - f["eye_level"] + f["brow"], 1.6 * f["eye_size"], 0.03) for s in (-1, 1)
    )
    nose = _blob(inner - 0.3 * p["turn"], y - 0.12, 0.05, 0.14)
    bend = p["smile"] * (1 - (inner / f["mouth_width"]) ** 2)  # the corners stay, the middle sinks in a smile
    mouth = _blob(inner, y - f["mouth_level"] - bend, f["mouth_width"], 0.05)
    skin = f["tone"] * (1 + p["light"] * x) - 0.15 * nose - 0.3 * brows - 0.45 * eyes - 0.35 * mouth
    return np.asarray(0.1 + head * (skin - 0.1) * (1 - 0.75 * hair / np.maximum(head, 1e-9)))


def _soft(x: Array, width: float) -> Array:
    """0 where x is below, 1 where it is above, smooth between."""
    return 0.5 * (1 + np.tanh(x / width))


def _blob(x: Array, y: Array, a: Array | float, b: Array | float) -> Array:
    return np.exp(-((x / a) ** 2) - (y / b) ** 2)


def _between(
    rng: np.random.Generator, count: int, ranges: dict[str, tuple[float, float]], pick: Any = slice(None)
) -> dict[str, Array]:
    """A uniform draw of each factor, (n, 1, 1)."""
    return {name: rng.uniform(low, high, count)[pick, None, None] for name, (low, high) in ranges.items()}


class _Roll:
    """Points of the spiral r = t: places, unit normals and arc lengths from its start."""

    def __init__(self, t: Array, start: float) -> None:
        c, s = np.cos(t), np.sin(t)
        self.points = np.column_stack([t * c, t * s])
        self.normals = np.column_stack([s + t * c, t * s - c]) / np.sqrt(1 + t**2)[:, None]
        self.length = _arc(t) - _arc(np.asarray(start))

    @classmethod
    def even(cls, rng: np.random.Generator, n: int, start: float, stop: float) -> _Roll:
        """Even along the length: a table of it is inverted, and the exact length of the point then taken."""
        grid = np.linspace(start, stop, 10_001)
        lengths = _arc(grid)
        return cls(np.interp(rng.uniform(lengths[0], lengths[-1], n), lengths, grid), start)


def _arc(t: Array) -> Array:
    """∫ √(1 + t²) dt, from 0."""
    return np.asarray(0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t)))


def _sheet(points: Array, normals: Array, length: Array, height: Array, off: Array) -> Table:
    x, z = (points + off * normals).T
    return Table(np.column_stack([x, height, z]), ("x", "height", "z"), length, "arc length")


def _rng(random_state: Seed) -> np.random.Generator:
    return np.random.default_rng(seed_of(random_state))
