"""t-SNE's repulsion by a smooth particle mesh, in one or two axes.

Unit masses are spread onto a regular mesh by cubic B-splines; the sum of the kernel (1 + r²/ν)^-(ν+1)/2
and the forces x (1 + r²/ν)^-(ν+3)/2 are convolutions of that density, made by FFT (one forward, one
inverse a field) and read off the mesh by the same splines. The kernels' spectra are divided by the
spline's own twice, once for spreading and once for reading. The mesh is twice as wide as the map, so
that no point sees an image of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from lowdim import _native
from lowdim.runtime.memory import require_memory

__all__ = ["Box", "FFTRepulsion", "Fields", "box_of"]

Floats = NDArray[np.float32]

# Spacing of the mesh in units of the kernel's width, the first that needs no more cells than said. At 0.44 the mean
# error of the force is below 2 %; small maps, where all points act on all, get more for next to nothing.
SPACINGS = {1: ((0.2, 1 << 20),), 2: ((0.25, 160), (1 / 3, 320), (0.44, 2048))}
FEWEST = 64  # cells along an axis: the kernel is small where the mesh wraps around
EDGE = 6  # cells beyond the map, for the splines
FEW_POINTS = 64  # that are not worth a mesh
KEPT = 3  # sizes of mesh whose spectra are remembered
WORK_BYTES = 32  # a place of the padded mesh: density, kernels, products and their transforms


@dataclass(frozen=True)
class Box:
    """Where the mesh lies."""

    origin: Floats  # (k,)
    spacing: float
    cells: tuple[int, ...]
    cut: bool = False  # whether points may be beyond it

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes of the transforms: twice the cells, and easy to factor."""
        return tuple(scipy.fft.next_fast_len(2 * c, real=a == len(self.cells) - 1) for a, c in enumerate(self.cells))

    def holds(self, Y: Floats) -> NDArray[np.bool_]:
        """Which places are well inside, (n,)."""
        places = (Y - self.origin) / np.float32(self.spacing)
        return np.asarray(((places >= 1) & (places <= np.array(self.cells, dtype=np.float32) - 3)).all(axis=1))


@dataclass(frozen=True)
class Fields:
    """The sum of the kernel and the force on a mesh, (k + 1, cells …); the last axis runs on beyond its cells."""

    box: Box
    values: Floats

    def at(self, Y: Floats, threads: int) -> tuple[Floats, float]:
        """UmapParams at the places Y, (n, k), and the sum of the sums."""
        out = np.empty_like(Y)
        box = self.box
        total = _native.gather_forces(self.values, list(box.cells), box.origin, box.spacing, Y, out, threads)
        return out, total


def box_of(Y: Floats, width: float) -> Box:
    """The mesh for a map: a function of the map alone, with few different sizes.

    A map that is too wide because of a few points far out gets a mesh for the others; one that is wide by nature
    gets wider cells.
    """
    # Column by column: over the short axis of many rows, NumPy takes twenty times as long.
    low, high = (np.array([end(column) for column in Y.T], dtype=np.float64) for end in (np.min, np.max))
    span, cut = float((high - low).max()), False
    for spacing, most in SPACINGS[Y.shape[1]]:
        spacing, room = spacing * width, most - EDGE
        if span <= room * spacing:
            break
    else:
        inner = np.percentile(Y, (1, 99), axis=0).astype(np.float64)
        middle, reach = inner.mean(axis=0), np.maximum(1.5 * (inner[1] - inner[0]), 1.0)
        spacing = max(spacing, _eighth_of_octave(float(reach.max()) / room))
        half = room * spacing / 2
        cut = bool((low < middle - half).any() or (high > middle + half).any())
        low, high = np.maximum(low, middle - half), np.minimum(high, middle + half)
    cells = tuple(_rounded(float(side) / spacing, most) for side in high - low)
    origin = (low + high) / 2 - np.array(cells) / 2 * spacing
    return Box(origin.astype(np.float32), spacing, cells, cut)


def _eighth_of_octave(spacing: float) -> float:
    """The next of eight spacings an octave, so that a map that grows a little keeps its spectra."""
    return float(2 ** (np.ceil(8 * np.log2(spacing)) / 8))


def _rounded(span: float, most: int) -> int:
    """Cells for a span, rounded up to one of eight sizes an octave."""
    wanted = max(int(np.ceil(span)) + EDGE, FEWEST)
    step = 1 << (wanted.bit_length() - 4)
    return int(min(-(-wanted // step) * step, most))


class FFTRepulsion:
    """Repulsion between all points of a map; remembers the spectra of the last few sizes of mesh."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads
        self._spectra: dict[tuple[Any, ...], Floats] = {}

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """UmapParams (n, k), and the sum of the kernel over all ordered pairs.

        Points beyond the mesh have one of their own: they are so far that they and the others do not act on each other.
        """
        if len(Y) <= FEW_POINTS:
            forces = np.empty_like(Y)
            return forces, _native.repel_directly(Y, self.dof, forces, 1)
        box = self._box(Y)
        inside = box.holds(Y) if box.cut else np.True_
        if inside.all():
            forces, total = self._fields(Y, box).at(Y, self.threads)
            return forces, total - len(Y)  # without every point's own share
        forces, total = np.empty_like(Y), 0.0
        for part in (inside, ~inside):
            forces[part], share = self(np.ascontiguousarray(Y[part]))
            total += share
        return forces, total

    def fields(self, Y: Floats) -> Fields:
        """The fields that the map makes, without those of its points that are far from the rest."""
        box = self._box(Y)
        return self._fields(np.ascontiguousarray(Y[box.holds(Y)]) if box.cut else Y, box)

    def _box(self, Y: Floats) -> Box:
        return box_of(Y, min(1.0, float(np.sqrt(self.dof))))

    def _fields(self, Y: Floats, box: Box) -> Fields:
        density = np.empty(box.cells, dtype=np.float32)
        _native.spread_masses(Y, box.origin, box.spacing, density, self.threads)
        spectrum = self._forward(density, box.padded)
        product = np.empty((len(box.cells) + 1, *spectrum.shape), dtype=np.complex64)
        _native.multiply_spectra(spectrum, self._kernels(box), product, self.threads)
        return Fields(box, self._backward(product, box))

    def _forward(self, density: Floats, padded: tuple[int, ...]) -> NDArray[np.complex64]:
        """Axis by axis, last to first, so that no empty row is transformed."""
        workers = self.threads
        out = scipy.fft.rfft(density, n=padded[-1], axis=-1, workers=workers)
        for axis in range(density.ndim - 2, -1, -1):
            out = scipy.fft.fft(out, n=padded[axis], axis=axis, workers=workers, overwrite_x=True)
        return np.ascontiguousarray(out)

    def _backward(self, product: NDArray[np.complex64], box: Box) -> Floats:
        """First to last; only the rows under the map go on."""
        workers, norm = self.threads, "forward"  # the scale is in the kernels' spectra
        for axis, cells in enumerate(box.cells[:-1], start=1):
            product = scipy.fft.ifft(product, axis=axis, norm=norm, workers=workers, overwrite_x=True)
            product = product[(slice(None),) * axis + (slice(cells),)]
        out = scipy.fft.irfft(product, n=box.padded[-1], axis=-1, norm=norm, workers=workers)
        return np.ascontiguousarray(out, dtype=np.float32)

    def _kernels(self, box: Box) -> Floats:
        key = box.padded, box.spacing
        if key not in self._spectra:
            while len(self._spectra) >= KEPT:
                del self._spectra[next(iter(self._spectra))]
            needed = WORK_BYTES * int(np.prod(box.padded, dtype=np.int64))
            require_memory(needed, f"a mesh of {box.padded} places", "Map fewer rows, or onto fewer axes.")
            self._spectra[key] = _kernel_spectra(box.padded, box.spacing, self.dof, self.threads)
        return self._spectra[key]


def _kernel_spectra(padded: tuple[int, ...], spacing: float, dof: float, workers: int) -> Floats:
    """The even kernel's real spectrum, and the odd ones' divided by i, (k + 1, …)."""
    axes = len(padded)
    offsets = [_along(np.fft.fftfreq(m, 1 / (m * spacing)), a, axes) for a, m in enumerate(padded)]
    base = 1 + sum(x * x for x in offsets) / np.float32(dof)
    kernel = 1 / base if dof == 1 else base ** np.float32(-(dof + 1) / 2)
    force = kernel / base
    scale = np.full((1,) * axes, 1 / np.prod(padded, dtype=np.float64), dtype=np.float32)
    for a, m in enumerate(padded):  # the spline's transform is sinc⁴, and it was applied twice
        waves = np.fft.rfftfreq(m) if a == axes - 1 else np.fft.fftfreq(m)
        scale = scale * _along(np.sinc(waves) ** -8, a, axes)
    spectra = [scipy.fft.rfftn(kernel, workers=workers).real * scale]
    for a, m in enumerate(padded):
        x = offsets[a].copy()
        if m % 2 == 0:  # half-way round, an odd kernel is neither plus nor minus
            x.reshape(-1)[m // 2] = 0
        spectra.append(scipy.fft.rfftn(x * force, workers=workers).imag * scale)
    return np.stack(spectra).astype(np.float32, copy=False)


def _along(values: NDArray[Any], axis: int, axes: int) -> Floats:
    shape = [1] * axes
    shape[axis] = len(values)
    return values.astype(np.float32).reshape(shape)
