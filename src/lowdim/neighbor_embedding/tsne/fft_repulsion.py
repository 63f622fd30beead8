"""FFT-accelerated repulsion of t-SNE in one and two dimensions, by smooth particle-mesh interpolation.

Like FIt-SNE (Linderman et al. 2019), with cubic B-splines in place of Lagrange polynomials. Unit masses are spread onto
a regular mesh by the splines. The forces x (1 + r²/ν)^-(ν+3)/2 are convolutions of that density, computed by FFT (one
forward transform, one inverse per axis) and interpolated at the points by the same splines. The kernels' spectra are
divided by the spline's own spectrum twice: once for spreading, once for interpolating. Of the kernel
(1 + r²/ν)^-(ν+1)/2 only the sum over all pairs is wanted, which needs no inverse transform: by Parseval's theorem it is
the sum of the kernel's spectrum times the squared magnitude of the density's. The mesh is zero-padded to twice its
size, so that no point sees a periodic image of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from lowdim import _native
from lowdim.runtime.memory import require_memory

__all__ = ["FFTRepulsion", "Mesh", "MeshFields", "mesh_for"]

Floats = NDArray[np.float32]

# Spacing of the mesh in units of the kernel's width: the first that needs no more cells than the number beside it. At
# 0.44 the mean error of the force is below 2%; small embeddings get a finer mesh at almost no cost.
SPACINGS = {1: ((0.2, 1 << 20),), 2: ((0.25, 160), (1 / 3, 320), (0.44, 2048))}
MIN_CELLS = 64  # along an axis: the kernel is small where the mesh wraps around
MARGIN = 6  # cells beyond the embedding, for the splines
EXACT_POINTS = 64  # up to here, a mesh is not worthwhile
CACHED_SPECTRA = 3  # mesh sizes whose kernel spectra are kept
BYTES_PER_CELL = 32  # of the padded mesh: density, kernels, products and their transforms


@dataclass(frozen=True)
class Mesh:
    """Origin, spacing and size of a regular mesh."""

    origin: Floats  # (k,)
    spacing: float
    cells: tuple[int, ...]
    truncated: bool = False  # whether points may lie outside

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes of the transforms: at least twice the cells, with small prime factors."""
        return tuple(scipy.fft.next_fast_len(2 * c, real=a == len(self.cells) - 1) for a, c in enumerate(self.cells))

    def contains(self, Y: Floats) -> NDArray[np.bool_]:
        """Which points lie inside, splines included, (n,)."""
        scaled = (Y - self.origin) / np.float32(self.spacing)
        return np.asarray(((scaled >= 1) & (scaled <= np.array(self.cells, dtype=np.float32) - 3)).all(axis=1))


@dataclass(frozen=True)
class MeshFields:
    """The force on a mesh, (k, cells …), whose last axis extends beyond its cells, and the sum of the kernel."""

    mesh: Mesh
    values: Floats
    sum_q: float  # over all ordered pairs of points, each with itself included

    def interpolate(self, Y: Floats, threads: int) -> Floats:
        """Forces at the points Y, (n, k)."""
        out = np.empty_like(Y)
        mesh = self.mesh
        _native.gather_from_mesh(self.values, list(mesh.cells), mesh.origin, mesh.spacing, Y, out, threads)
        return out


def mesh_for(Y: Floats, width: float) -> Mesh:
    """The mesh for an embedding: a function of the embedding alone, with few different sizes.

    If a few outliers make the embedding too wide, the mesh covers the other points; if it is wide throughout, the
    cells get wider.
    """
    # Column by column: over the short axis of many rows, NumPy takes twenty times as long.
    low, high = (np.array([end(column) for column in Y.T], dtype=np.float64) for end in (np.min, np.max))
    span, truncated = float((high - low).max()), False
    for spacing, max_cells in SPACINGS[Y.shape[1]]:
        spacing, usable = spacing * width, max_cells - MARGIN
        if span <= usable * spacing:
            break
    else:
        inner = np.percentile(Y, (1, 99), axis=0).astype(np.float64)
        center, extent = inner.mean(axis=0), np.maximum(1.5 * (inner[1] - inner[0]), 1.0)
        spacing = max(spacing, _round_spacing(float(extent.max()) / usable))
        half = usable * spacing / 2
        truncated = bool((low < center - half).any() or (high > center + half).any())
        low, high = np.maximum(low, center - half), np.minimum(high, center + half)
    cells = tuple(_round_cells(float(side) / spacing, max_cells) for side in high - low)
    origin = (low + high) / 2 - np.array(cells) / 2 * spacing
    return Mesh(origin.astype(np.float32), spacing, cells, truncated)


def _round_spacing(spacing: float) -> float:
    """Rounded up to one of eight spacings per octave: an embedding that grows a little keeps its kernel spectra."""
    return float(2 ** (np.ceil(8 * np.log2(spacing)) / 8))


def _round_cells(span: float, max_cells: int) -> int:
    """Cells for a span, rounded up to one of eight sizes per octave."""
    wanted = max(int(np.ceil(span)) + MARGIN, MIN_CELLS)
    step = 1 << (wanted.bit_length() - 4)
    return int(min(-(-wanted // step) * step, max_cells))


class FFTRepulsion:
    """Repulsion by FFT on a mesh; caches the kernel spectra of the last few mesh sizes."""

    def __init__(self, dof: float, threads: int) -> None:
        self.dof, self.threads = dof, threads
        self._spectra: dict[tuple[Any, ...], Floats] = {}

    def __call__(self, Y: Floats) -> tuple[Floats, float]:
        """Repulsive forces, (n, k), and the normalization: the sum of the kernel over all ordered pairs.

        Points outside the mesh get a mesh of their own: they are so far that they and the others hardly interact.
        """
        if len(Y) <= EXACT_POINTS:
            forces = np.empty_like(Y)
            return forces, _native.repulsion_exact(Y, self.dof, forces, 1)
        mesh = self._mesh(Y)
        inside = mesh.contains(Y) if mesh.truncated else np.True_
        if inside.all():
            fields = self._fields(Y, mesh)
            return fields.interpolate(Y, self.threads), fields.sum_q - len(Y)  # without each point's own term
        forces, sum_q = np.empty_like(Y), 0.0
        for part in (inside, ~inside):
            forces[part], sum_q_part = self(np.ascontiguousarray(Y[part]))
            sum_q += sum_q_part
        return forces, sum_q

    def fields(self, Y: Floats) -> MeshFields:
        """The fields of the embedding, without its outliers beyond the mesh."""
        mesh = self._mesh(Y)
        return self._fields(np.ascontiguousarray(Y[mesh.contains(Y)]) if mesh.truncated else Y, mesh)

    def _mesh(self, Y: Floats) -> Mesh:
        return mesh_for(Y, min(1.0, float(np.sqrt(self.dof))))

    def _fields(self, Y: Floats, mesh: Mesh) -> MeshFields:
        density = np.empty(mesh.cells, dtype=np.float32)
        _native.scatter_to_mesh(Y, mesh.origin, mesh.spacing, density, self.threads)
        spectrum = self._forward(density, mesh.padded)
        product = np.empty((len(mesh.cells), *spectrum.shape), dtype=np.complex64)
        even = mesh.padded[-1] % 2 == 0
        sum_q = _native.multiply_spectra(spectrum, self._kernel_spectra(mesh), even, product, self.threads)
        return MeshFields(mesh, self._backward(product, mesh), sum_q)

    def _forward(self, density: Floats, padded: tuple[int, ...]) -> NDArray[np.complex64]:
        """Axis by axis, last to first, so that no row of zeros is transformed."""
        workers = self.threads
        out = scipy.fft.rfft(density, n=padded[-1], axis=-1, workers=workers)
        for axis in range(density.ndim - 2, -1, -1):
            out = scipy.fft.fft(out, n=padded[axis], axis=axis, workers=workers, overwrite_x=True)
        return np.ascontiguousarray(out)

    def _backward(self, product: NDArray[np.complex64], mesh: Mesh) -> Floats:
        """Axis by axis, first to last; rows of the padding are dropped before they are transformed."""
        workers, norm = self.threads, "forward"  # the scale is in the kernel spectra
        for axis, cells in enumerate(mesh.cells[:-1], start=1):
            product = scipy.fft.ifft(product, axis=axis, norm=norm, workers=workers, overwrite_x=True)
            product = product[(slice(None),) * axis + (slice(cells),)]
        out = scipy.fft.irfft(product, n=mesh.padded[-1], axis=-1, norm=norm, workers=workers)
        return np.ascontiguousarray(out, dtype=np.float32)

    def _kernel_spectra(self, mesh: Mesh) -> Floats:
        key = mesh.padded, mesh.spacing
        if key not in self._spectra:
            while len(self._spectra) >= CACHED_SPECTRA:
                del self._spectra[next(iter(self._spectra))]
            needed = BYTES_PER_CELL * int(np.prod(mesh.padded, dtype=np.int64))
            size = " × ".join(str(side) for side in mesh.padded)
            require_memory(needed, f"the FFT mesh ({size} cells)", "Use fewer rows or fewer components.")
            self._spectra[key] = _kernel_spectra(mesh.padded, mesh.spacing, self.dof, self.threads)
        return self._spectra[key]


def _kernel_spectra(padded: tuple[int, ...], spacing: float, dof: float, workers: int) -> Floats:
    """The real spectrum of the even kernel, and those of the odd ones divided by i, (k + 1, …)."""
    axes = len(padded)
    offsets = [_along(np.fft.fftfreq(m, 1 / (m * spacing)), a, axes) for a, m in enumerate(padded)]
    base = 1 + sum(x * x for x in offsets) / np.float32(dof)
    kernel = 1 / base if dof == 1 else base ** np.float32(-(dof + 1) / 2)
    force = kernel / base
    scale = np.full((1,) * axes, 1 / np.prod(padded, dtype=np.float64), dtype=np.float32)
    for a, m in enumerate(padded):  # the transform of a cubic B-spline is sinc⁴, and it is applied twice
        frequencies = np.fft.rfftfreq(m) if a == axes - 1 else np.fft.fftfreq(m)
        scale = scale * _along(np.sinc(frequencies) ** -8, a, axes)
    spectra = [scipy.fft.rfftn(kernel, workers=workers).real * scale]
    for a, m in enumerate(padded):
        x = offsets[a].copy()
        if m % 2 == 0:  # at the Nyquist offset, an odd kernel has no sign
            x.reshape(-1)[m // 2] = 0
        spectra.append(scipy.fft.rfftn(x * force, workers=workers).imag * scale)
    return np.stack(spectra).astype(np.float32, copy=False)


def _along(values: NDArray[Any], axis: int, axes: int) -> Floats:
    shape = [1] * axes
    shape[axis] = len(values)
    return values.astype(np.float32).reshape(shape)
