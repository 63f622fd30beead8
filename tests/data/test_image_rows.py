"""Rows of array files that are images, or distances: what the file says, and what its numbers show."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import lowdim
from cli_runner import run_here
from lowdim import read_table
from lowdim.data.io import arrow_source

DIGITS = np.asarray(lowdim.datasets.load("digits").X)
RNG = np.random.default_rng(0)
SERIES = np.cumsum(RNG.normal(size=(200, 256)), axis=1)


def as_bytes(X):
    low, high = np.min(X), np.max(X)
    return np.rint(255 * (X - low) / (high - low)).astype(np.uint8)


def test_bytes_in_the_order_of_pixels_are_images(tmp_path, monkeypatch):
    X, path = DIGITS.astype(np.uint8), tmp_path / "digits.npy"
    np.save(path, X)
    for limit in (0, 1 << 20):  # memory-mapped, and in memory
        monkeypatch.setattr(arrow_source, "IN_MEMORY_BYTES", limit)
        assert read_table(path).image_shape == (8, 8)
    assert read_table(path, drop="x0").image_shape is None
    np.savez(tmp_path / "digits.npz", X=X, y=X[:, 20])
    table = read_table(tmp_path / "digits.npz")
    assert table.image_shape == (8, 8) and table.label_name == "y"
    np.testing.assert_array_equal(np.asarray(table.array()), X)
    np.savez(tmp_path / "named.npz", X=X, names=np.array([f"gene {j}" for j in range(64)]))
    assert read_table(tmp_path / "named.npz").image_shape is None


@pytest.mark.parametrize(
    "X",
    [
        DIGITS.astype(np.uint8)[:, RNG.permutation(64)],
        (RNG.random((200, 1024)) < 0.05).astype(np.uint8),
        np.minimum(RNG.poisson(RNG.gamma(0.5, 4, 256), (200, 256)), 255).astype(np.uint8),
        as_bytes(SERIES),
        as_bytes(np.sin(np.linspace(0, 60, 256) + 6 * RNG.random((200, 1)))),
        np.clip(RNG.normal(3, 1, (200, 1)) + RNG.normal(size=(200, 64)), 1, 5).astype(np.uint8),
        np.zeros((20, 64), np.uint8),
        DIGITS,
        DIGITS.astype(np.uint8)[:, :63],
    ],
    ids=["shuffled pixels", "bits", "counts", "series", "waves", "answers", "nothing", "floats", "no square"],
)
def test_other_bytes_are_no_images(tmp_path, X):
    np.save(tmp_path / "a.npy", X)
    assert read_table(tmp_path / "a.npy").image_shape is None


@pytest.mark.parametrize("given", [(4, 16), (8, 8, 1), (4, 4, 4), (8, 7), (2, 2, 16), (-8, -8)])
def test_a_file_may_declare_the_shape_of_its_images(tmp_path, given):
    np.savez(tmp_path / "a.npz", X=DIGITS[:40], image_shape=np.array(given))
    fits = given in ((4, 16), (8, 8, 1), (4, 4, 4))
    assert read_table(tmp_path / "a.npz").image_shape == (given if fits else None)


def test_pixels_keep_their_scale_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = DIGITS[:200].astype(np.uint8)
    np.savez("digits.npz", X=X)
    lines = ["map digits.npz -o plain.npy --json", "map digits.npz --standardize -o scaled.npy --json"]
    lines += ["map digits.npz -o z.csv"]
    done = run_here(tmp_path, lines)
    assert [done[line].data["standardized"] for line in lines[:2]] == [False, True]
    assert "not standardized, because the rows are images of 8 × 8 (--standardize overrides)" in done[lines[2]].out
    values = X.astype(float)
    np.testing.assert_allclose(np.load("plain.npy"), lowdim.PCA(2).fit_transform(values), atol=1e-4)
    scaled = lowdim.PCA(2, standardize=True).fit_transform(values[:, np.ptp(values, axis=0) > 0])
    np.testing.assert_allclose(np.load("scaled.npy"), scaled, atol=1e-4)
    found = lowdim.compare(read_table("digits.npz"), "pca", k=5)
    assert ("units", "columns not standardized, because the rows are images") in found.done


def test_distances_in_an_array_file_are_known_as_such(tmp_path):
    D = squareform(pdist(RNG.normal(size=(20, 3))))
    np.save(tmp_path / "d.npy", D)
    np.savez(tmp_path / "d.npz", X=D, y=np.arange(20) % 2)
    for name in ("d.npy", "d.npz"):
        table = read_table(tmp_path / name)
        assert table.kind == "distances"
        np.testing.assert_array_equal(np.asarray(table.array()), D)
    fitted = lowdim.ClassicalMDS(3, metric="precomputed").fit(read_table(tmp_path / "d.npy").X)
    np.testing.assert_allclose(squareform(pdist(fitted.embedding_)), D, atol=1e-8)
    for other in (D - 1, np.triu(D), D[:, :19]):
        np.save(tmp_path / "o.npy", other)
        assert read_table(tmp_path / "o.npy").kind == "rows"
