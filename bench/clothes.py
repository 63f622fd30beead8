"""Images of clothes made on the spot, 28 × 28: a data set besides MNIST that nobody has tuned for.

A garment is a silhouette (a profile of half-widths with sleeves, or of heights for shoes) with a texture: brightness,
shading, a smooth random pattern, stripes, a print. Classes overlap, as T-shirts, pullovers, coats and shirts do.
Spectrum, intrinsic dimension and k-NN accuracy are near those of Fashion-MNIST.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

SIDE = 28
CHUNK = 5000  # images made together


@dataclass(frozen=True)
class Garment:
    """The mean shape of a class, in units of half the image."""

    profile: tuple[float, ...]  # half-widths from top to bottom, or heights from heel to toe
    extent: tuple[float, float]  # from top to bottom, or from heel to toe
    sleeve: tuple[float, float] = (0.0, 0.0)  # the shortest and the longest
    gap: float = 0.0  # between legs, or of an open front
    shoe: bool = False
    holes: float = 0.0  # of a sandal or a handle: the depth of a cosine along the profile
    wobble: float = 0.13  # standard deviation of the logarithms of the profile


GARMENTS = (
    Garment((0.36, 0.50, 0.45, 0.43, 0.43, 0.44), (-0.85, 0.85), sleeve=(0.25, 0.5)),  # T-shirt
    Garment((0.30, 0.34, 0.35, 0.34, 0.33, 0.31), (-0.95, 0.95), gap=0.09),  # trousers
    Garment((0.34, 0.52, 0.47, 0.45, 0.45, 0.46), (-0.85, 0.85), sleeve=(0.9, 1.2)),  # pullover
    Garment((0.24, 0.30, 0.22, 0.28, 0.36, 0.42), (-0.95, 0.95), sleeve=(0.0, 0.5)),  # dress
    Garment((0.36, 0.54, 0.48, 0.48, 0.50, 0.52), (-0.90, 0.90), sleeve=(0.9, 1.2), gap=0.03),  # coat
    Garment((0.25, 0.30, 0.35, 0.32, 0.25, 0.20), (-0.95, 0.95), shoe=True, holes=0.7, wobble=0.3),  # sandal
    Garment((0.34, 0.51, 0.46, 0.44, 0.44, 0.45), (-0.87, 0.87), sleeve=(0.3, 1.2), gap=0.015),  # shirt
    Garment((0.45, 0.50, 0.55, 0.45, 0.35, 0.28), (-0.95, 0.95), shoe=True),  # sneaker
    Garment((0.30, 0.55, 0.68, 0.72, 0.72, 0.68), (-0.80, 0.80), holes=0.25, wobble=0.25),  # bag
    Garment((1.25, 1.20, 1.00, 0.60, 0.45, 0.35), (-0.85, 0.90), shoe=True),  # ankle boot
)

AXIS = np.linspace(-1, 1, SIDE, dtype=np.float32)


@cache
def clothes(n: int = 70_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 784), float32 in 0…1, and their classes (n,); the same for the same seed."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(GARMENTS), n)
    X = np.empty((n, SIDE * SIDE), dtype=np.float32)
    for start in range(0, n, CHUNK):
        part = labels[start : start + CHUNK]
        for label, garment in enumerate(GARMENTS):
            rows = np.flatnonzero(part == label)
            shape = silhouettes(garment, len(rows), rng)
            X[start + rows] = (shape * textures(shape, rng)).reshape(len(rows), -1)
    np.clip(X, 0, 1, out=X)
    return np.rint(X * 255).astype(np.float32) / np.float32(255), labels


def clothes_images() -> np.ndarray:
    """The images alone."""
    return clothes()[0]


def clothes_labels() -> np.ndarray:
    """Their classes."""
    return clothes()[1]


def silhouettes(garment: Garment, m: int, rng: np.random.Generator) -> np.ndarray:
    """How much of each pixel a garment covers, (m, 28, 28)."""
    control = np.array(garment.profile, dtype=np.float32)
    deviations = rng.standard_normal((m, len(control))) + 0.7 * rng.standard_normal((m, 1))
    profile = smooth_curve(control * np.exp(garment.wobble * deviations))  # (m, 28)
    if garment.holes:
        turns, phase = rng.uniform(1.5, 4, (m, 1)), rng.uniform(0, 2 * np.pi, (m, 1))
        profile *= 1 - garment.holes * (0.5 + 0.5 * np.cos(turns * np.pi * AXIS + phase))
    center = smooth_curve(0.04 * rng.standard_normal((m, len(control))))
    first, last = (end + 0.05 * rng.standard_normal((m, 1)) for end in garment.extent)
    inside = edge(AXIS - first) * edge(last - AXIS)  # along the profile
    if garment.shoe:  # the profile runs from left to right, and the sole is flat
        height, sole = (0.55 - AXIS)[None, :, None], 0.1 * rng.standard_normal((m, 1, 1))
        return edge(height - sole) * edge(profile[:, None, :] + center[:, None, :] - height) * inside[:, None, :]
    aside = np.abs(AXIS - center[:, :, None])  # (m, 28, 28)
    body = edge(profile[:, :, None] - aside) * inside[:, :, None]
    if garment.sleeve[1]:
        body = np.maximum(body, sleeves(garment, aside, m, rng))
    if garment.gap:
        opening = garment.gap * np.exp(0.3 * rng.standard_normal((m, 1, 1)))
        body = body * (1 - edge(opening - aside) * edge(AXIS - rng.uniform(-0.7, -0.3, (m, 1)))[:, :, None])
    return body


def sleeves(garment: Garment, aside: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """Two strips that leave the shoulders at an angle."""
    length = rng.uniform(*garment.sleeve, (m, 1, 1))
    angle = rng.normal(1.15, 0.12, (m, 1, 1))
    width = 0.13 * np.exp(0.2 * rng.standard_normal((m, 1, 1)))
    across, down = aside - 0.38, AXIS[None, :, None] + 0.62
    along = across * np.cos(angle) + down * np.sin(angle)
    beside = np.abs(across * np.sin(angle) - down * np.cos(angle))
    return edge(width - beside) * edge(along + 0.1) * edge(length - along)


def textures(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Brightness of each pixel, (m, 28, 28)."""
    m = len(shape)
    brightness = rng.beta(3.0, 1.6, (m, 1, 1))
    waves = np.cos(np.pi * np.arange(7)[:, None] * (AXIS + 1) / 2)  # (7, 28)
    amplitudes = rng.standard_normal((m, 7, 7)) / (1 + np.add.outer(np.arange(7) ** 2, np.arange(7) ** 2) / 3)
    pattern = 0.12 * np.einsum("mij,ia,jb->mab", amplitudes, waves, waves, optimize=True)
    tilt, phase = rng.choice([0.0, np.pi / 2, 0.5], (m, 1, 1)), rng.uniform(0, 2 * np.pi, (m, 1, 1))
    ramp = AXIS[:, None] * np.cos(tilt) + AXIS * np.sin(tilt)
    striped = rng.uniform(0.15, 0.5, (m, 1, 1)) * (rng.random((m, 1, 1)) < 0.25)
    stripes = striped * np.cos(rng.uniform(5, 16, (m, 1, 1)) * ramp + phase)
    spot = (AXIS[:, None] - rng.normal(0, 0.25, (m, 1, 1))) ** 2 + (AXIS - rng.normal(0, 0.15, (m, 1, 1))) ** 2
    printed = rng.uniform(-0.6, 0.6, (m, 1, 1)) * (rng.random((m, 1, 1)) < 0.2) * np.exp(-spot / 0.03)
    noise = 0.04 * rng.standard_normal(shape.shape)
    return brightness * (0.75 + 0.25 * shape) * (1 + pattern + stripes + printed) + noise


def smooth_curve(control: np.ndarray) -> np.ndarray:
    """A smooth curve near control points (m, c), at 28 places, (m, 28)."""
    places = np.linspace(-1, 1, control.shape[1])
    weights = np.exp(-0.5 * ((AXIS[:, None] - places) / 0.22) ** 2)
    return (control @ (weights / weights.sum(axis=1, keepdims=True)).T).astype(np.float32)


def edge(distance: np.ndarray) -> np.ndarray:
    """From 0 outside to 1 inside within about a pixel."""
    return np.clip(0.5 + 12 * distance, 0, 1)
