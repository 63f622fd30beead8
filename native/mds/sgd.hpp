// Stochastic gradient descent on stress (SGD-MDS): blocks of points are paired in a round-robin schedule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/round_robin.hpp"
#include "dispatch/kernels.hpp"
#include "mds/distances.hpp"

namespace lowdim {

// Rows of data and their metric, or a matrix of distances (negative metric).
template <class T>
struct SgdRound {
    RowBlock<T> x;
    MetricForm form;
    const std::int32_t* order;  // the shuffled points; block p begins at order[p size]
    std::int64_t size;
    std::int64_t k;
    T step_size;
};

// One round: each block is paired with one other; (n, k) coordinates change in place. Returns Σ (δ - d)² before the moves.
template <class T>
double mds_sgd_round(const SgdRound<T>& options, std::int64_t round, T* y, const ThreadTeam& team) {
    const std::int64_t n = options.x.rows, k = options.k, size = options.size, blocks = block_count(n, size);
    const std::int64_t players = blocks + blocks % 2;
    std::vector<double> sums(static_cast<std::size_t>(players / 2), 0.0);
    parallel_blocks(players / 2, team, [&](std::int64_t pair) {
        const auto [a, b] = round_robin_pair(players, round % (players - 1), pair);
        if (a >= blocks || b >= blocks) return;  // the last block of an odd number has no partner
        std::vector<T> coordinates(static_cast<std::size_t>(2 * k * size), T(0));
        std::vector<T> targets(static_cast<std::size_t>(size * size), T(-1));
        const std::int64_t pair_blocks[2] = {a, b};
        std::int64_t counts[2];
        for (int side = 0; side < 2; ++side) {
            counts[side] = std::min(size, n - pair_blocks[side] * size);
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    coordinates[static_cast<std::size_t>((side * k + c) * size + i)] =
                        y[options.order[pair_blocks[side] * size + i] * k + c];
        }
        const std::int64_t d = options.x.columns;
        std::vector<T> others, distances(static_cast<std::size_t>(size));
        if (options.form.metric >= 0) {  // contiguous, because each is read for every row of the first block
            others.resize(static_cast<std::size_t>(size * d));
            for (std::int64_t j = 0; j < counts[1]; ++j) {
                const T* row = options.x.row(options.order[b * size + j]);
                std::copy(row, row + d, others.data() + j * d);
            }
        }
        const std::int64_t cached_rows = rows_in_cache<T>(d);
        for (std::int64_t first = 0; first < counts[1]; first += cached_rows) {
            const std::int64_t count = std::min(cached_rows, counts[1] - first);
            for (std::int64_t i = 0; i < counts[0]; ++i) {
                const T* row = options.x.row(options.order[a * size + i]);
                if (options.form.metric >= 0) {
                    kernels().mds.of<T>().row_distances[options.form.metric](row, {others.data() + first * d, count, d, d},
                                                                             options.form.root, static_cast<T>(options.form.scale),
                                                                             distances.data());
                } else {
                    for (std::int64_t j = 0; j < count; ++j) {
                        const double given = static_cast<double>(row[options.order[b * size + first + j]]) * options.form.scale;
                        distances[static_cast<std::size_t>(j)] = given >= 0 ? static_cast<T>(given) : T(-1);  // NaN: unknown
                    }
                }
                for (std::int64_t j = 0; j < count; ++j)
                    targets[static_cast<std::size_t>((first + j - i + size) % size * size + i)] = distances[static_cast<std::size_t>(j)];
            }
        }
        sums[static_cast<std::size_t>(pair)] = kernels().mds.of<T>().sgd_block_pair(coordinates.data(), coordinates.data() + k * size,
                                                                                    targets.data(), size, k, options.step_size);
        for (int side = 0; side < 2; ++side)
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    y[options.order[pair_blocks[side] * size + i] * k + c] =
                        coordinates[static_cast<std::size_t>((side * k + c) * size + i)];
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace lowdim
