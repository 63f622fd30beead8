"""A call of every function of the native module, and what its arrays are."""

from __future__ import annotations

import numpy as np

from lowdim import _native

F, D, N, L, U = np.float32, np.float64, np.int32, np.int64, np.uint8
NOBODY = np.iinfo(N).max


def numbers(*shape, dtype=F, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(dtype)


def ring(n=6, starts=L):
    """Each of n rows has the next two as neighbors: starts, columns and values of compressed sparse rows."""
    columns = (np.arange(n)[:, None] + [1, 2]) % n
    return [np.arange(0, 2 * n + 1, 2).astype(starts), columns.ravel().astype(N), numbers(2 * n)]


def lists(n=6, k=2):
    return [np.full((n, k), np.inf, F), np.full((n, k), NOBODY, N)]


def affinities():
    return _native.AffinityMatrix(*ring(), 1)


def sparse_parts(rows=2):
    """Sparse rows of 4 columns, with factors and offsets."""
    return [*SPARSE_ROWS[:1], SPARSE_ROWS[1], SPARSE_ROWS[2], np.ones(rows), np.zeros(rows)]


def inverted_index():
    return _native.InvertedIndex(*sparse_parts(), 4, 0, 1, 1.0, 4, 1)


def ranking(n=4):
    return _native.Ranking(np.arange(n * (n - 1) // 2, dtype=N), n)


X = numbers(6, 4)
SPARSE = [np.array([0, 2, 3], L), np.array([0, 3, 1], L), numbers(3, dtype=D)]
SPARSE_ROWS = [np.array([0, 2, 3], L), np.array([0, 3, 1], N), numbers(3, dtype=D)]

# A call of every function, by its arguments. Names end with a number where a function is called in several ways.
CALLS = {
    "fill_normal": lambda: [np.empty(6), 1, 2, 1],
    "fill_words": lambda: [np.empty(8, np.uint32), 1, 2],
    "hash_rows": lambda: [X.copy(), np.empty(6, np.uint64), 1],
    "hash_sparse_rows": lambda: [*SPARSE, np.empty(2, np.uint64), 1],
    "column_sums": lambda: [X.copy(), np.zeros(6, N), numbers(6, dtype=D), np.empty((2, 4))],
    "center": lambda: [
        X.copy(),
        numbers(2, 4, dtype=D),
        np.empty((6, 4), F),
        np.zeros(6, N),
        numbers(4, dtype=D),
        numbers(6, dtype=D),
    ],
    "shift_rows": lambda: [X.copy(), numbers(4), np.empty((6, 4), F), np.empty(4)],
    "interval_bitmaps": lambda: [
        np.zeros((2, 70), np.int16),
        np.array([0, 3, 5], N),
        0,
        np.zeros((5, 2), np.uint64),
        1,
    ],
    "unit_supports": lambda: [np.ones((5, 2), np.uint64), np.array([[0, 3], [1, 4]], N), np.empty(2, L), 1],
    "unit_rows": lambda: [np.ones((5, 2), np.uint64), np.array([[0, 3], [1, 4]], N), np.zeros(2, np.uint64), 1],
    "subtract_outer": lambda: [numbers(4, 4), numbers(4, dtype=D), 0.5],
    "add_scatter": lambda: [numbers(4, 4, dtype=D), numbers(4, 4), numbers(2, 4, dtype=D)],
    "sparse_times": lambda: [*SPARSE, numbers(4, 3, dtype=D), np.empty((2, 3))],
    "sparse_transpose_times": lambda: [*SPARSE, numbers(2, 3, dtype=D), np.zeros((4, 3))],
    "half_symmetric_times": lambda: [numbers(3, 5), 2, numbers(5, 16), np.zeros((3, 16)), np.zeros((2, 16), F)],
    "chebyshev_filter": lambda: [
        *ring(6, N)[:2],
        numbers(12, dtype=D),
        numbers(6, 3, dtype=D),
        (0.0, 2.0),
        3,
        np.empty((6, 3)),
        1,
    ],
    "chebyshev_filter_gram": lambda: [
        *(2 * [*ring(6, N)[:2], numbers(12, dtype=D)]),
        numbers(6, 3, dtype=D),
        (0.0, 2.0),
        3,
        np.empty((6, 3)),
        1,
    ],
    "three_term_step": lambda: [*ring(), numbers(6, 8), numbers(6, 8), np.empty((6, 8), F), 1.0, 0.0, 0.5, 1],
    "all_pairs_round": lambda: [X.copy(), numbers(4), 0, 0, *lists(), 1],
    "exact_queries": lambda: [numbers(3, 4), np.arange(3, dtype=N), X.copy(), numbers(4), 0, *lists(3), 1],
    "probe_cells": lambda: [
        numbers(3, 4),
        np.arange(3, dtype=N),
        np.array([0, 2, 3]),
        X.copy(),
        np.arange(6, dtype=N),
        np.array([0, 3, 6]),
        False,
        numbers(4),
        0,
        *lists(3),
        1,
    ],
    "nn_descent_round": lambda: [X.copy(), np.arange(6, dtype=N), 0, *graph(), np.ones((6, 2), U), 1, 0, 2, 2, 1],
    "graph_search_queries": lambda: [numbers(3, 4), X.copy(), graph()[1], 0, numbers(3, 2), graph()[1][:3].copy(), 1],
    "refine_candidates": lambda: [
        numbers(3, 4),
        X.copy(),
        graph()[1][:3].copy(),
        np.arange(3, dtype=N),
        0,
        True,
        1.0,
        *lists(3),
        1,
    ],
    "exact_queries 2": lambda: [
        numbers(3, 4),
        np.arange(3, dtype=N),
        X.copy(),
        numbers(4),
        14,
        *lists(3),
        1,
        numbers(4),
    ],
    "nn_descent_round 2": lambda: [
        X.copy(),
        np.arange(6, dtype=N),
        14,
        *graph(),
        np.ones((6, 2), U),
        1,
        0,
        2,
        2,
        1,
        numbers(4),
    ],
    "refine_candidates 2": lambda: [
        numbers(3, 4, dtype=D),
        numbers(6, 4, dtype=D),
        graph()[1][:3].copy(),
        np.arange(3, dtype=N),
        14,
        0,
        1.0,
        *lists(3),
        1,
        numbers(4, dtype=D),
    ],
    "score_candidates": lambda: [X.copy(), np.arange(6, dtype=N), graph()[1], 0, *lists(), 1],
    "select_nearest": lambda: [numbers(3, 4), np.arange(3, dtype=N), 0, *lists(3)],
    "symmetrize_memberships": lambda: [*ring(), numbers(12), 0.5, 1],
    "symmetrize_affinities": lambda: [graph()[1], numbers(6, 2), 0.5, 1],
    "AffinityMatrix": lambda: [*ring(), 1],
    "InvertedIndex": lambda: [*sparse_parts(), 4, 0, 1, 1.0, 4, 1],
    "sparse_all_pairs_round": lambda: [inverted_index(), 0, *lists(2, 1), 1],
    "sparse_queries": lambda: [inverted_index(), *sparse_parts(), np.arange(2, dtype=N), *lists(2, 1), 1],
    "stress_pass": lambda: [numbers(2, 4), numbers(6), numbers(6), ranking(), False, np.empty((4, 2)), 1],
    "map_distances": lambda: [numbers(2, 4), ranking(), np.empty(6, F), 1],
    "sstress_line": lambda: [numbers(2, 4), numbers(2, 4), numbers(6), numbers(6), 1],
    "pairwise_distances": lambda: [numbers(4, 3), 0, True, 1.0, np.empty(6, F), 1],
    "pairwise_distances 2": lambda: [numbers(4, 3), 14, 0, 1.0, np.empty(6, F), 1, numbers(3)],
    "cross_distances 2": lambda: [numbers(4, 3), numbers(2, 3), 14, 0, 1.0, np.empty((4, 2), F), 1, numbers(3)],
    "cross_distances": lambda: [numbers(4, 3), numbers(2, 3), 0, True, 1.0, np.empty((4, 2), F), 1],
    "mds_out_of_sample": lambda: [
        numbers(2, 4),
        numbers(3, 4),
        numbers(3, 4),
        5,
        1e-3,
        np.zeros((3, 2)),
        np.zeros(3, U),
        1,
    ],
    "mds_sgd_round": lambda: [numbers(6, 4), 0, True, 1.0, np.arange(6, dtype=N), 2, 0.1, 0, numbers(6, 2), 1],
    "mds_sgd_round 2": lambda: [numbers(6, 6), -1, True, 1.0, np.arange(6, dtype=N), 2, 0.1, 7, numbers(6, 2), 1],
    "Ranking": lambda: [np.arange(6, dtype=N), 4],
    "isotonic_regression": lambda: [numbers(6), numbers(6), ranking(), 0.0, np.empty(6, F), 1],
    "sort_ties": lambda: [np.array([0, 3]), np.array([2, 6]), numbers(6), ranking(), 1],
    "spline_moments": lambda: [numbers(2, 4), numbers(6), numbers(6), numbers(2, dtype=D), 0.0, 1.0, np.empty(6, F), 1],
    "evaluate_spline": lambda: [numbers(6), numbers(2, dtype=D), 0.0, 1.0, numbers(5, dtype=D), np.empty(6, F), 1],
    "shortest_paths": lambda: [
        *ring(),
        np.arange(6, dtype=N),
        np.arange(3, dtype=N)[:, None],
        np.zeros((3, 1), F),
        np.arange(3, dtype=N),
        np.empty((3, 6), F),
        1,
    ],
    "locality_order": lambda: [*ring(), np.empty(6, N)],
    "square_distances": lambda: [numbers(4, 6), np.empty(4), 1],
    "double_center": lambda: [numbers(4, 4), numbers(4, dtype=D), 0.5, np.empty(4), 1],
    "gram_times": lambda: [numbers(4, 6), numbers(6, 2, dtype=D), np.empty((4, 2)), 1],
    "correlation_sums": lambda: [
        numbers(4, 6),
        numbers(4, dtype=D),
        numbers(6, dtype=D),
        0.5,
        numbers(4, 2, dtype=D),
        numbers(2, 6, dtype=D),
        np.empty((4, 8)),
        1,
    ],
    "local_grams": lambda: [X.copy(), numbers(3, 4), graph()[1][:3].copy(), np.empty((3, 2, 2)), 1],
    "reconstruction_weights": lambda: [numbers(3, 2, 2, dtype=D), 1e-3, np.empty((3, 2)), 1],
    "batched_eigh": lambda: [numbers(3, 2, 2, dtype=D), np.empty((3, 2)), np.empty((3, 2, 2)), 1],
    "block_sum_counts": lambda: [graph()[1], np.empty(6, N), 1],
    "block_sum": lambda: [graph()[1], numbers(6, 2, 2, dtype=D), *block_rows(), 1],
    "calibrate_perplexity": lambda: [numbers(6, 4), 2.0, np.empty((6, 4), F), 1],
    "tsne_step": lambda: [
        affinities(),
        numbers(6, 2),
        numbers(6, 2),
        (1.0, 1.0, 0.8, 5.0, 1.0, 1.0, 1.0),
        *(numbers(6, 2) for _ in range(3)),
        1,
    ],
    "attraction_loss": lambda: [affinities(), numbers(6, 2), 1.0, 1],
    "repulsion_exact": lambda: [numbers(6, 2), 1.0, np.empty((6, 2), F), 1],
    "repulsion_barnes_hut": lambda: [numbers(6, 3), 1.0, 0.25, 0.0, np.empty((6, 3), F), 1],
    "scatter_to_mesh": lambda: [numbers(6, 2), np.zeros(2, F), 0.25, np.empty((8, 9), F), 1],
    "gather_from_mesh": lambda: [numbers(3, 8, 9), [8, 9], np.zeros(2, F), 0.25, numbers(6, 2), np.empty((6, 2), F), 1],
    "multiply_spectra": lambda: [
        numbers(4, 5).astype(np.complex64),
        numbers(3, 4, 5),
        np.empty((3, 4, 5), np.complex64),
        1,
    ],
    "tsne_out_of_sample": lambda: [
        *ring(),
        numbers(6, 2),
        numbers(3, 8, 9),
        [8, 9],
        np.zeros(2, F),
        0.25,
        (1.0, 1.0, 0.1, 0.8, 5.0, 3, 0.0, 0.0),
        numbers(6, 2),
        1,
    ],
    "tsne_out_of_sample 2": lambda: [
        *ring(),
        numbers(6, 3),
        None,
        [],
        np.zeros(0, F),
        0.25,
        (1.0, 1.0, 0.1, 0.8, 5.0, 3, 0.25, 0.0),
        numbers(6, 3),
        1,
    ],
    "smooth_knn": lambda: [numbers(6, 3), 1.5, 1.0, np.empty(6, F), np.empty(6, F), np.empty((6, 3), F), 1],
    "umap_epochs": lambda: [
        numbers(6, 2),
        None,
        *ring()[:2],
        np.full(12, 2**31, np.uint32),
        0,
        2,
        10,
        1.0,
        np.array([1.5, 0.9, 1.0], F),
        3,
        7,
        numbers(12),
        numbers(12),
        1,
    ],
    "umap_epochs 2": lambda: [
        numbers(6, 2),
        numbers(7, 2),
        *ring()[:2],
        np.full(12, 2**31, np.uint32),
        0,
        2,
        10,
        1.0,
        np.array([1.5, 0.9, 1.0], F),
        3,
        7,
        None,
        None,
        1,
    ],
    "densmap_sums": lambda: [numbers(6, 2), numbers(7, 2), *ring()[:2], 1.5, 0.9, np.empty(6, F), np.empty(6, F), 1],
    "ica_pass": lambda: [numbers(6, 4), numbers(3, 4), numbers(6, dtype=D), 0, np.empty((3, 4)), np.empty((3, 3)), 1],
    "contrast_values": lambda: [numbers(6), 1, np.empty(6, F), np.empty(6, F), np.empty(6, F)],
    "fast_powers": lambda: [numbers(6), 0.9, np.empty(6, F)],
}
PLAIN = {"all_pairs_round_count", "round_robin_pair", "idle", "instruction_set"}  # without arrays


def graph():
    return [numbers(6, 2), ring()[1].reshape(6, 2)]


def block_rows():
    counts = np.empty(6, N)
    _native.block_sum_counts(graph()[1], counts, 1)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(N)
    return starts, np.empty(starts[-1], N), np.empty(starts[-1])


# Index arrays: (function, argument) and the largest value plus one.
INDICES = [
    ("column_sums", 1, 2),
    ("center", 3, 2),
    ("sparse_times", 1, 4),
    ("sparse_transpose_times", 1, 4),
    ("chebyshev_filter", 1, 6),
    ("chebyshev_filter_gram", 1, 6),
    ("chebyshev_filter_gram", 4, 6),
    ("three_term_step", 1, 6),
    ("probe_cells", 1, 3),
    ("probe_cells", 4, 6),
    ("nn_descent_round", 1, 6),
    ("nn_descent_round", 4, 6),
    ("graph_search_queries", 2, 6),
    ("graph_search_queries", 5, 6),
    ("refine_candidates", 2, 6),
    ("score_candidates", 1, 6),
    ("score_candidates", 2, 6),
    ("symmetrize_memberships", 1, 6),
    ("symmetrize_affinities", 0, 6),
    ("AffinityMatrix", 1, 6),
    ("InvertedIndex", 1, 4),
    ("mds_sgd_round", 4, 6),
    ("mds_sgd_round 2", 4, 6),
    ("Ranking", 0, 6),
    ("sort_ties", 0, 7),
    ("sort_ties", 1, 7),
    ("shortest_paths", 1, 6),
    ("shortest_paths", 3, 6),
    ("shortest_paths", 4, 6),
    ("shortest_paths", 6, 3),
    ("locality_order", 1, 6),
    ("local_grams", 2, 6),
    ("block_sum_counts", 0, 6),
    ("block_sum", 0, 6),
    ("tsne_out_of_sample", 1, 6),
    ("tsne_out_of_sample 2", 1, 6),
    ("umap_epochs", 3, 6),
    ("umap_epochs 2", 3, 7),
    ("densmap_sums", 3, 7),
]
STARTS = [
    ("hash_sparse_rows", 0),
    ("sparse_times", 0),
    ("sparse_transpose_times", 0),
    ("chebyshev_filter", 0),
    ("chebyshev_filter_gram", 0),
    ("chebyshev_filter_gram", 3),
    ("three_term_step", 0),
    ("probe_cells", 2),
    ("probe_cells", 5),
    ("symmetrize_memberships", 0),
    ("AffinityMatrix", 0),
    ("InvertedIndex", 0),
    ("sparse_queries", 1),
    ("shortest_paths", 0),
    ("locality_order", 0),
    ("block_sum", 2),
    ("tsne_out_of_sample", 0),
    ("tsne_out_of_sample 2", 0),
    ("umap_epochs", 2),
    ("umap_epochs 2", 2),
    ("densmap_sums", 2),
    ("interval_bitmaps", 1),
]

# Lengths that no other argument fixes: (function, argument, axis).
FREE = {
    ("AffinityMatrix", 0, 0),
    ("symmetrize_memberships", 0, 0),
    ("add_scatter", 2, 0),
    ("attraction_loss", 1, 1),
    ("block_sum_counts", 0, 1),
    ("center", 1, 0),
    ("column_sums", 3, 0),
    ("densmap_sums", 1, 0),
    ("exact_queries", 2, 0),
    ("exact_queries 2", 2, 0),
    ("fill_normal", 0, 0),
    ("fill_words", 0, 0),
    ("gather_from_mesh", 0, 2),
    ("graph_search_queries", 2, 1),
    ("half_symmetric_times", 2, 0),
    ("hash_rows", 0, 1),
    ("interval_bitmaps", 0, 1),
    ("interval_bitmaps", 3, 1),
    ("local_grams", 0, 0),
    ("map_distances", 0, 0),
    ("mds_sgd_round 2", 8, 1),
    ("mds_sgd_round", 0, 1),
    ("mds_sgd_round", 8, 1),
    ("nn_descent_round", 0, 1),
    ("pairwise_distances", 0, 1),
    ("probe_cells", 3, 0),
    ("refine_candidates", 1, 0),
    ("refine_candidates 2", 1, 0),
    ("refine_candidates 2", 2, 1),
    ("refine_candidates", 2, 1),
    ("scatter_to_mesh", 0, 0),
    ("scatter_to_mesh", 3, 0),
    ("scatter_to_mesh", 3, 1),
    ("score_candidates", 0, 1),
    ("score_candidates", 2, 1),
    ("select_nearest", 0, 1),
    ("shortest_paths", 7, 0),
    ("sparse_times", 3, 0),
    ("sparse_transpose_times", 4, 0),
    ("spline_moments", 0, 0),
    ("spline_moments", 3, 0),
    ("square_distances", 0, 1),
    ("tsne_out_of_sample 2", 3, 0),
    ("tsne_out_of_sample", 3, 0),
    ("tsne_out_of_sample", 4, 2),
    ("umap_epochs 2", 1, 0),
    ("umap_epochs", 0, 1),
    ("unit_rows", 0, 0),
    ("unit_rows", 1, 0),
    ("unit_rows", 1, 1),
    ("unit_supports", 0, 0),
    ("unit_supports", 0, 1),
    ("unit_supports", 1, 1),
}
# Optional inputs, of which nanobind makes a private copy in the right type.
CONVERTED = {
    ("sparse_queries", 6),
    ("all_pairs_round", 1),
    ("center", 3),
    ("center", 4),
    ("center", 5),
    ("column_sums", 1),
    ("column_sums", 2),
    ("exact_queries", 1),
    ("exact_queries", 3),
    ("exact_queries 2", 1),
    ("exact_queries 2", 3),
    ("exact_queries 2", 8),
    ("nn_descent_round 2", 11),
    ("pairwise_distances 2", 6),
    ("cross_distances 2", 7),
    ("isotonic_regression", 1),
    ("mds_out_of_sample", 2),
    ("probe_cells", 7),
    ("refine_candidates", 2),
    ("refine_candidates", 3),
    ("refine_candidates 2", 2),
    ("refine_candidates 2", 3),
    ("refine_candidates 2", 10),
    ("select_nearest", 1),
    ("spline_moments", 2),
    ("sstress_line", 3),
    ("stress_pass", 2),
    ("tsne_out_of_sample", 4),
}
