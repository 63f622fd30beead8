"""LAPACK's solvers for dense matrices, called without Python's global lock, so that Ctrl-C and other threads go on.

SciPy's own wrappers of the eigensolvers and of the SVD hold the lock while LAPACK runs, and NumPy's QR does. These are
the same routines of the same library, through the function pointers that SciPy exports for Cython: ctypes releases
the lock around a call.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.cython_lapack
from numpy.typing import NDArray

__all__ = ["eigh", "merged_r_factor", "pivoted_cholesky", "qr", "r_factor", "svd"]

Array = NDArray[Any]


def eigh(A: Array, wanted: tuple[int, int] | None, driver: str) -> tuple[Array, Array]:
    """Ascending eigenpairs of a symmetric matrix, those with indices wanted[0] to wanted[1] or all, by a driver."""
    if driver == "evd" and wanted is None and len(A):
        return _evd(_own(A))
    if driver == "evr" and wanted is not None and 0 <= wanted[0] <= wanted[1] < len(A):
        return _evr(_own(A), *wanted)
    found = scipy.linalg.eigh(A, subset_by_index=wanted, driver=driver, check_finite=False)  # what is left to try
    return found[0], found[1]


def svd(A: Array) -> tuple[Array, Array, Array]:
    """U, s, Vᵀ of the thin singular value decomposition."""
    return np.linalg.svd(A, full_matrices=False)


def qr(A: Array) -> tuple[Array, Array]:
    """Q and R of the thin QR decomposition."""
    return scipy.linalg.qr(A, mode="economic", check_finite=False)


def r_factor(A: Array) -> Array:
    """R of A = QR, (≤ d, d), upper triangular."""
    (geqrf,) = scipy.linalg.get_lapack_funcs(("geqrf",), (A,))
    return np.triu(geqrf(A)[0][: A.shape[1]])


def merged_r_factor(upper: Array, lower: Array) -> Array:
    """R of two R factors of d columns, one below the other, (d, d): a fifth of the work for a dense matrix."""
    d = upper.shape[1]
    a, b = _square(upper), _square(lower)
    width = min(32, d)
    T, work = np.empty((width, d), dtype=a.dtype, order="F"), np.empty(width * d, dtype=a.dtype)
    size, block, info = ctypes.c_int(d), ctypes.c_int(width), ctypes.c_int(0)
    arguments = (size, size, size, block, a, size, b, size, T, block, work, info)
    routine = _routine(("s" if a.dtype == np.float32 else "d") + "tpqrt", len(arguments))
    routine(*(_address(argument) for argument in arguments))
    return a


def pivoted_cholesky(A: Array, tol: float) -> tuple[Array, NDArray[np.int32], int]:
    """L (d, r), the order of the columns, and the rank r: A[order][:, order] = L Lᵀ but for pivots of at most tol."""
    a = _own(A)
    d = len(a)
    order, work = np.zeros(d, dtype=np.int32), np.empty(2 * d, dtype=a.dtype)
    size, rank, info = ctypes.c_int(d), ctypes.c_int(0), ctypes.c_int(0)
    routine = _routine(("s" if a.dtype == np.float32 else "d") + "pstrf", 9)
    arguments = (b"L", size, a, size, order, rank, np.array([tol], dtype=a.dtype), work, info)
    routine(*(_address(argument) for argument in arguments))  # info is 1 for a matrix without full rank
    return np.tril(a)[:, : rank.value], order - 1, rank.value


def _own(A: Array) -> Array:
    """A copy in float32 or float64 and in LAPACK's order, which it may overwrite."""
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"a symmetric matrix must be square; got shape {A.shape}.")
    return np.array(A, dtype=np.float32 if A.dtype == np.float32 else np.float64, order="F")


def _square(R: Array) -> Array:
    """A copy of an R factor in LAPACK's order, with rows of zeros below if it has fewer than its d columns."""
    out = np.zeros((R.shape[1], R.shape[1]), dtype=R.dtype, order="F")
    out[: len(R)] = R
    return out


def _evd(a: Array) -> tuple[Array, Array]:
    """All eigenpairs by divide and conquer."""
    values, size = np.empty(len(a), dtype=a.dtype), ctypes.c_int(len(a))
    _call(a.dtype, "syevd", (b"V", b"L", size, a, size, values))
    return values, a


def _evr(a: Array, low: int, high: int) -> tuple[Array, Array]:
    """Eigenpairs low…high by relatively robust representations; fewer if LAPACK found fewer."""
    n, count = len(a), high - low + 1
    values, vectors = np.empty(n, dtype=a.dtype), np.empty((n, count), dtype=a.dtype, order="F")
    size, found = ctypes.c_int(n), ctypes.c_int(0)
    zero = np.zeros(1, dtype=a.dtype)  # the bounds that an interval would have, and the tolerance
    first, last = ctypes.c_int(low + 1), ctypes.c_int(high + 1)
    support = np.empty(2 * max(1, count), dtype=np.int32)
    head = (b"V", b"I", b"L", size, a, size, zero, zero, first, last, zero, found, values, vectors, size, support)
    _call(a.dtype, "syevr", head)
    return values[: found.value], vectors[:, : found.value]


def _call(dtype: np.dtype[Any], name: str, head: tuple[Any, ...]) -> None:
    """Call a routine whose last arguments are work, lwork, iwork, liwork and info: first for the sizes of work."""
    routine = _routine(("s" if dtype == np.float32 else "d") + name, len(head) + 5)
    info = ctypes.c_int(0)
    work, iwork = np.empty(1, dtype=dtype), np.empty(1, dtype=np.int32)
    for query in (True, False):
        sizes = (ctypes.c_int(-1), ctypes.c_int(-1)) if query else (ctypes.c_int(len(work)), ctypes.c_int(len(iwork)))
        arguments = (*head, work, sizes[0], iwork, sizes[1], info)
        routine(*(_address(argument) for argument in arguments))
        if info.value:
            raise scipy.linalg.LinAlgError(f"{name} returned {info.value}")
        if query:
            work, iwork = np.empty(int(work[0]), dtype=dtype), np.empty(int(iwork[0]), dtype=np.int32)


def _address(argument: Any) -> Any:
    if isinstance(argument, bytes):
        return ctypes.cast(ctypes.c_char_p(argument), ctypes.c_void_p)
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.cast(ctypes.byref(argument), ctypes.c_void_p)


@cache
def _routine(name: str, arguments: int) -> Any:
    """A routine of the LAPACK that SciPy uses, as a function of so many pointers."""
    capsule = scipy.linalg.cython_lapack.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(pointer)
