// The passes over all pairs of points: each shares out blocks that are the same for any number of threads, and every
// block writes only what it owns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"
#include "tournament.hpp"

namespace lowdim {

inline std::size_t pairs_of(std::int64_t n) { return n < 2 ? 0 : static_cast<std::size_t>(n * (n - 1) / 2); }

// The triangle of pairs of n points in tiles, row after row of them.
inline std::vector<PairTile> tiles_of(std::int64_t n) {
    std::vector<PairTile> tiles;
    std::int64_t before = 0;
    for (std::int64_t row = 0; row < n; row += pair_block)
        for (std::int64_t column = row; column < n; column += pair_block) {
            const std::int64_t rows = std::min(pair_block, n - row), columns = std::min(pair_block, n - column);
            tiles.push_back({row, row + rows, column, column + columns, before});
            before += row == column ? rows * (rows - 1) / 2 : rows * columns;
        }
    return tiles;
}

// own[i] = Σ_j factor (y_i - y_j) over all pairs, (n, k), and the sums of the loss. A tile writes what it adds to its
// rows, and to its columns, beside what other tiles add to them; the parts are then summed in their order.
template <class T>
PairSums pull_pairs(const PairTable<T>& pairs, bool squared, double* own, const Crew& crew) {
    const std::int64_t n = pairs.n, k = pairs.k, blocks = blocks_of(n, pair_block);
    const std::vector<PairTile> tiles = tiles_of(n);
    std::unique_ptr<double[]> parts(new double[static_cast<std::size_t>((blocks + 1) * n * k)]);
    std::vector<PairSums> sums(tiles.size(), PairSums{0, 0, 0});
    std::vector<std::unique_ptr<T[]>> scratch(static_cast<std::size_t>(crew.threads));
    // Part b of a row is what the columns of block b add to it; part `blocks`, what its own block adds from the left.
    const auto part = [&](std::int64_t from, std::int64_t row) { return parts.get() + (from * n + row) * k; };
    for (auto& room : scratch) room.reset(new T[static_cast<std::size_t>(k * pair_block)]);
    parallel_blocks(static_cast<std::int64_t>(tiles.size()), crew, [&](std::int64_t t) {
        T* const room = scratch[static_cast<std::size_t>(thread_index())].get();
        const PairTile& tile = tiles[static_cast<std::size_t>(t)];
        const std::int64_t a = tile.row_begin / pair_block, b = tile.column_begin / pair_block;
        kernels().smacof.of<T>().pull[squared](pairs, tile, room, part(b, tile.row_begin),
                                               part(a == b ? blocks : a, tile.column_begin), sums[static_cast<std::size_t>(t)]);
    });
    const bool few = (blocks + 1) * n * k < (std::int64_t{1} << 18);  // added up before threads would be awake
    parallel_ranges(n, pair_block, {few ? 1 : crew.threads, crew.stop}, [&](std::int64_t begin, std::int64_t end) {
        std::fill(own + begin * k, own + end * k, 0.0);
        for (std::int64_t from = 0; from <= blocks; ++from)
            for (std::int64_t i = begin * k; i < end * k; ++i) own[i] += parts[static_cast<std::size_t>(from * n * k + i)];
    });
    PairSums total{0, 0, 0};
    for (const auto& sum : sums) {
        total.stress += sum.stress;
        total.squares += sum.squares;
        total.drift += sum.drift;
    }
    return total;
}

template <class T>
void map_distances(const PairTable<T>& pairs, T* out, const Crew& crew) {
    const std::vector<PairTile> tiles = tiles_of(pairs.n);
    parallel_blocks(static_cast<std::int64_t>(tiles.size()), crew,
                    [&](std::int64_t t) { kernels().smacof.of<T>().map_distances(pairs, tiles[static_cast<std::size_t>(t)], out); });
}

constexpr std::int64_t triangle_rows = 16;

template <class T>
void line_of_pairs(const PairTable<T>& pairs, const T* direction, double* out, const Crew& crew) {
    const std::int64_t blocks = blocks_of(pairs.n, triangle_rows);
    std::vector<double> parts(static_cast<std::size_t>(5 * blocks), 0.0);
    parallel_ranges(pairs.n, triangle_rows, crew, [&](std::int64_t begin, std::int64_t end) {
        kernels().smacof.of<T>().line(pairs, direction, begin, end, parts.data() + 5 * (begin / triangle_rows));
    });
    std::fill(out, out + 5, 0.0);
    for (std::int64_t i = 0; i < 5 * blocks; ++i) out[i % 5] += parts[static_cast<std::size_t>(i)];
}

// Rows of d columns that stay in the first cache while others are measured against them: a multiple of four.
template <class T>
std::int64_t close_rows(std::int64_t d) {
    const std::int64_t fitting = (std::int64_t{24} << 10) / (static_cast<std::int64_t>(sizeof(T)) * std::max<std::int64_t>(d, 1));
    return std::clamp<std::int64_t>(fitting / 4 * 4, 4, 64);
}

// Distances of all pairs of rows, packed; or of every row of x to every row of `others`, as a table.
template <class T>
void measure_pairs(const RowBlock<T>& x, const RowBlock<T>* others, const Measure& how, T* out, const Crew& crew) {
    constexpr std::int64_t few = 32;  // rows that one thread owns
    const RowBlock<T>& base = others == nullptr ? x : *others;
    const auto measure = kernels().smacof.of<T>().measure[how.metric];
    const std::int64_t close = close_rows<T>(x.columns);
    parallel_ranges(x.rows, few, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t first = others == nullptr ? begin : 0; first < base.rows; first += close) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t from = others == nullptr ? std::max(first, i + 1) : first;
                const std::int64_t count = std::min(base.rows, first + close) - from;
                if (count <= 0) continue;
                T* place = out + (others == nullptr ? pair_index(i, from, x.rows) : i * base.rows + from);
                measure(x.row(i), {base.row(from), count, base.columns, base.stride}, how.root, static_cast<T>(how.scale), place);
            }
        }
    });
}

// Every row of `targets` (m, n) finds its place among the n fixed points; settled[i] says whether it came to rest.
template <class T>
void place_rows(const PairTable<T>& fixed, std::int64_t rows, std::int64_t most, double tol, double* places, std::uint8_t* settled,
                const Crew& crew) {
    parallel_blocks(rows, crew, [&](std::int64_t i) {
        std::vector<double> scratch(static_cast<std::size_t>(2 * fixed.k));
        PairTable<T> own = fixed;
        own.targets += i * fixed.n;
        if (own.weights != nullptr) own.weights += i * fixed.n;
        settled[i] = kernels().smacof.of<T>().place(own, most, tol, scratch.data(), places + i * fixed.k);
    });
}

// ---- stochastic descent: parties of points meet ----

// Rows of data and how far they are apart, or a table of distances (metric below zero).
template <class T>
struct Meeting {
    RowBlock<T> x;
    Measure how;
    const std::int32_t* order;  // the points, shuffled; party p is order[p size] …
    std::int64_t size;
    std::int64_t k;
    T rate;
};

// One round: each party meets one other, (n, k) coordinates change in place. Returns Σ (δ - d)² as met.
template <class T>
double meeting_round(const Meeting<T>& meeting, std::int64_t round, T* y, const Crew& crew) {
    const std::int64_t n = meeting.x.rows, k = meeting.k, size = meeting.size, parties = blocks_of(n, size);
    const std::int64_t teams = parties + parties % 2;
    std::vector<double> sums(static_cast<std::size_t>(teams / 2), 0.0);
    parallel_blocks(teams / 2, crew, [&](std::int64_t table) {
        const auto [a, b] = tournament_match(teams, round % (teams - 1), table);
        if (a >= parties || b >= parties) return;  // the other one does not exist: sit out
        std::vector<T> coordinates(static_cast<std::size_t>(2 * k * size), T(0));
        std::vector<T> targets(static_cast<std::size_t>(size * size), T(-1));
        const std::int64_t sides[2] = {a, b};
        std::int64_t counts[2];
        for (int side = 0; side < 2; ++side) {
            counts[side] = std::min(size, n - sides[side] * size);
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    coordinates[static_cast<std::size_t>((side * k + c) * size + i)] = y[meeting.order[sides[side] * size + i] * k + c];
        }
        const std::int64_t d = meeting.x.columns;
        std::vector<T> others, distances(static_cast<std::size_t>(size));
        if (meeting.how.metric >= 0) {  // side by side, because each is read for every row of the other party
            others.resize(static_cast<std::size_t>(size * d));
            for (std::int64_t j = 0; j < counts[1]; ++j) {
                const T* row = meeting.x.row(meeting.order[b * size + j]);
                std::copy(row, row + d, others.data() + j * d);
            }
        }
        const std::int64_t close = close_rows<T>(d);
        for (std::int64_t first = 0; first < counts[1]; first += close) {
            const std::int64_t count = std::min(close, counts[1] - first);
            for (std::int64_t i = 0; i < counts[0]; ++i) {
                const T* row = meeting.x.row(meeting.order[a * size + i]);
                if (meeting.how.metric >= 0) {
                    kernels().smacof.of<T>().measure[meeting.how.metric](row, {others.data() + first * d, count, d, d}, meeting.how.root,
                                                                         static_cast<T>(meeting.how.scale), distances.data());
                } else {
                    for (std::int64_t j = 0; j < count; ++j) {
                        const double given = static_cast<double>(row[meeting.order[b * size + first + j]]) * meeting.how.scale;
                        distances[static_cast<std::size_t>(j)] = given >= 0 ? static_cast<T>(given) : T(-1);  // NaN: not known
                    }
                }
                for (std::int64_t j = 0; j < count; ++j)
                    targets[static_cast<std::size_t>((first + j - i + size) % size * size + i)] = distances[static_cast<std::size_t>(j)];
            }
        }
        sums[static_cast<std::size_t>(table)] = kernels().smacof.of<T>().meet(
            coordinates.data(), coordinates.data() + k * size, targets.data(), size, k, meeting.rate);
        for (int side = 0; side < 2; ++side)
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    y[meeting.order[sides[side] * size + i] * k + c] = coordinates[static_cast<std::size_t>((side * k + c) * size + i)];
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace lowdim
