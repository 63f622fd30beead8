// Passes over all pairs of points. Work is split into tiles that do not depend on the number of threads, and a tile writes
// only what it owns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/round_robin.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

inline std::size_t pairs_of(std::int64_t n) { return n < 2 ? 0 : static_cast<std::size_t>(n * (n - 1) / 2); }

// The triangle of pairs of n points in tiles, row by row.
inline std::vector<PairTile> tiles_of(std::int64_t n) {
    std::vector<PairTile> tiles;
    std::int64_t first_pair = 0;
    for (std::int64_t row = 0; row < n; row += pair_block)
        for (std::int64_t column = row; column < n; column += pair_block) {
            const std::int64_t rows = std::min(pair_block, n - row), columns = std::min(pair_block, n - column);
            tiles.push_back({row, row + rows, column, column + columns, first_pair});
            first_pair += row == column ? rows * (rows - 1) / 2 : rows * columns;
        }
    return tiles;
}

// own[i] = Σ_j factor (y_i - y_j) over all pairs, (n, k), and the sums of the loss: the Guttman transform of stress, or the
// gradient of squared stress. Each tile writes its parts separately; they are then summed in a fixed order.
template <class T>
PairSums stress_pass(const PairTable<T>& pairs, bool squared, double* own, const ThreadTeam& team) {
    const std::int64_t n = pairs.n, k = pairs.k, blocks = block_count(n, pair_block);
    const std::vector<PairTile> tiles = tiles_of(n);
    std::unique_ptr<double[]> parts(new double[static_cast<std::size_t>((blocks + 1) * n * k)]);
    std::vector<PairSums> sums(tiles.size(), PairSums{0, 0, 0});
    std::vector<std::unique_ptr<T[]>> scratch(static_cast<std::size_t>(team.threads));
    // Part b of a row comes from the columns of block b; part `blocks`, from the rows of its own block.
    const auto part = [&](std::int64_t from, std::int64_t row) { return parts.get() + (from * n + row) * k; };
    for (auto& own_scratch : scratch) own_scratch.reset(new T[static_cast<std::size_t>(k * pair_block)]);
    parallel_blocks(static_cast<std::int64_t>(tiles.size()), team, [&](std::int64_t t) {
        T* const own_scratch = scratch[static_cast<std::size_t>(thread_index())].get();
        const PairTile& tile = tiles[static_cast<std::size_t>(t)];
        const std::int64_t a = tile.row_begin / pair_block, b = tile.column_begin / pair_block;
        kernels().mds.of<T>().stress_tile[squared](pairs, tile, own_scratch, part(b, tile.row_begin),
                                                   part(a == b ? blocks : a, tile.column_begin), sums[static_cast<std::size_t>(t)]);
    });
    const bool few = (blocks + 1) * n * k < (std::int64_t{1} << 18);  // done before threads would wake up
    parallel_ranges(n, pair_block, {few ? 1 : team.threads, team.stop}, [&](std::int64_t begin, std::int64_t end) {
        std::fill(own + begin * k, own + end * k, 0.0);
        for (std::int64_t from = 0; from <= blocks; ++from)
            for (std::int64_t i = begin * k; i < end * k; ++i) own[i] += parts[static_cast<std::size_t>(from * n * k + i)];
    });
    PairSums total{0, 0, 0};
    for (const auto& sum : sums) {
        total.stress += sum.stress;
        total.squares += sum.squares;
        total.scale_slope += sum.scale_slope;
    }
    return total;
}

template <class T>
void map_distances(const PairTable<T>& pairs, T* out, const ThreadTeam& team) {
    const std::vector<PairTile> tiles = tiles_of(pairs.n);
    parallel_blocks(static_cast<std::int64_t>(tiles.size()), team,
                    [&](std::int64_t t) { kernels().mds.of<T>().map_distances(pairs, tiles[static_cast<std::size_t>(t)], out); });
}

constexpr std::int64_t triangle_rows = 16;

template <class T>
void sstress_line(const PairTable<T>& pairs, const T* direction, double* out, const ThreadTeam& team) {
    const std::int64_t blocks = block_count(pairs.n, triangle_rows);
    std::vector<double> parts(static_cast<std::size_t>(5 * blocks), 0.0);
    parallel_ranges(pairs.n, triangle_rows, team, [&](std::int64_t begin, std::int64_t end) {
        kernels().mds.of<T>().sstress_line_tile(pairs, direction, begin, end, parts.data() + 5 * (begin / triangle_rows));
    });
    std::fill(out, out + 5, 0.0);
    for (std::int64_t i = 0; i < 5 * blocks; ++i) out[i % 5] += parts[static_cast<std::size_t>(i)];
}

}  // namespace lowdim
