"""Picard (Ablin, Cardoso and Gramfort, 2018): maximum likelihood ICA by preconditioned L-BFGS.

A step multiplies W by a matrix near I, so its coordinates are relative: W ← (I + E) W. For independent sources the
Hessian is sparse in these coordinates and known from a few expectations; it preconditions L-BFGS.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lowdim.linear.ica.contrast import Unmixing, WhitenedRows
from lowdim.linear.ica.likelihood import Likelihood, Point
from lowdim.runtime.progress import report

__all__ = ["picard"]

Array = NDArray[np.float64]

MEMORY = 7  # pairs of L-BFGS
HALVINGS = 10  # of a step, before the direction is given up
STALLED = 10  # times the tolerance: near enough where rounding hides any further progress


@dataclass(frozen=True)
class Pair:
    """A step in relative coordinates, and the change of the gradient along it."""

    step: Array  # (k, k)
    change: Array  # (k, k)
    product: float  # of the two


def picard(rows: WhitenedRows, W: Array, model: Likelihood, tol: float, max_iter: int) -> Unmixing:
    """Minimize the negative log-likelihood from W (k, k), until no entry of the relative gradient exceeds tol."""
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    point = model.at(rows, W)
    for step in range(max_iter + 1):
        size = float(np.abs(point.gradient).max())
        report("Picard", step, max_iter, gradient=size)
        if size <= tol:
            return Unmixing(point.W, step, True)
        if step == max_iter:
            break
        found = _advance(rows, model, point, pairs)
        if found is None and pairs:  # what the pairs tell no longer holds
            pairs.clear()
            found = _advance(rows, model, point, pairs)
        if found is None:  # no smaller loss can be told from rounding
            return Unmixing(point.W, step, size <= STALLED * tol)
        move, new = found
        change = new.gradient - point.gradient
        product = float((move * change).sum())
        resigned = model.adapted(new)
        if resigned is not new:  # another density has another gradient
            pairs.clear()
        elif product > 0:
            pairs.append(Pair(move, change, product))
        point = resigned
    return Unmixing(point.W, max_iter, False)


def _advance(rows: WhitenedRows, model: Likelihood, point: Point, pairs: deque[Pair]) -> tuple[Array, Point] | None:
    """A step along the direction of L-BFGS, halved until the loss falls, and where it leads; None if it never does."""
    direction = _direction(model, point, pairs)
    if float((direction * point.gradient).sum()) >= 0:  # not downhill
        return None
    noise = float(np.finfo(rows.Z.dtype).eps) * max(1.0, abs(point.loss))  # rounding of a loss
    for halving in range(HALVINGS):
        move = direction * 0.5**halving
        W = model.moved(point.W, move)
        if W is None:
            continue
        new = model.at(rows, W, point.signs)
        smaller = np.linalg.norm(new.gradient) < np.linalg.norm(point.gradient)
        if new.loss < point.loss - noise or (new.loss <= point.loss + noise and smaller):
            return move, new
    return None


def _direction(model: Likelihood, point: Point, pairs: deque[Pair]) -> Array:
    """The two-loop recursion of L-BFGS, with the preconditioner in its middle."""
    q = point.gradient.copy()
    shares = []
    for pair in reversed(pairs):
        share = float((pair.step * q).sum()) / pair.product
        q -= share * pair.change
        shares.append(share)
    q = model.preconditioned(point, q)
    for pair, share in zip(pairs, reversed(shares), strict=True):
        q += (share - float((pair.change * q).sum()) / pair.product) * pair.step
    return -q
