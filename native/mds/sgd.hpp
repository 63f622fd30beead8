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
    MetricForm<T> form;
    const std::int32_t* order;  // the shuffled points; block p begins at order[p size]
    std::int64_t size;
    std::int64_t k;
    T step_size;
};

// Two blocks of points: their coordinates, axis by axis, and the target distances between them.
template <class T>
class SgdBlockPair {
  public:
    SgdBlockPair(const SgdRound<T>& options, std::int64_t a, std::int64_t b, const T* y)
        : options_(options),
          firsts_{a * options.size, b * options.size},
          coordinates_(static_cast<std::size_t>(2 * options.k * options.size), T(0)),
          targets_(static_cast<std::size_t>(options.size * options.size), T(-1)) {
        for (int side = 0; side < 2; ++side) counts_[side] = std::min(options.size, options.x.rows - firsts_[side]);
        for_each_coordinate([&](T& coordinate, std::int64_t at) { coordinate = y[at]; });
        set_targets();
    }

    double update() {
        return kernels().mds.of<T>().sgd_block_pair(coordinates_.data(), coordinates_.data() + options_.k * options_.size, targets_.data(),
                                                    options_.size, options_.k, options_.step_size);
    }

    void write(T* y) {
        for_each_coordinate([&](T& coordinate, std::int64_t at) { y[at] = coordinate; });
    }

  private:
    // Calls visit(coordinate, its index in y) for all points of both blocks.
    template <class Visit>
    void for_each_coordinate(const Visit& visit) {
        for (std::int64_t side = 0; side < 2; ++side)
            for (std::int64_t i = 0; i < counts_[side]; ++i)
                for (std::int64_t c = 0; c < options_.k; ++c)
                    visit(coordinates_[static_cast<std::size_t>((side * options_.k + c) * options_.size + i)],
                          options_.order[firsts_[side] + i] * options_.k + c);
    }

    void set_targets() {
        const std::int64_t d = options_.x.columns, size = options_.size, cached_rows = rows_in_cache<T>(d);
        std::vector<T> others, distances(static_cast<std::size_t>(size));
        if (options_.form.metric >= 0) {  // contiguous, because each is read for every row of the first block
            others.resize(static_cast<std::size_t>(size * d));
            for (std::int64_t j = 0; j < counts_[1]; ++j) {
                const T* row = options_.x.row(options_.order[firsts_[1] + j]);
                std::copy(row, row + d, others.data() + j * d);
            }
        }
        for (std::int64_t first = 0; first < counts_[1]; first += cached_rows) {
            const RowBlock<T> block = {others.data() + first * d, std::min(cached_rows, counts_[1] - first), d, d};
            for (std::int64_t i = 0; i < counts_[0]; ++i) {
                measure(options_.x.row(options_.order[firsts_[0] + i]), first, block, distances.data());
                for (std::int64_t j = 0; j < block.rows; ++j)
                    targets_[static_cast<std::size_t>((first + j - i + size) % size * size + i)] = distances[static_cast<std::size_t>(j)];
            }
        }
    }

    // Distances from one row to rows first … first + block.rows of the second block.
    void measure(const T* row, std::int64_t first, const RowBlock<T>& block, T* distances) const {
        const MetricForm<T>& form = options_.form;
        if (form.metric >= 0) {
            kernels().mds.of<T>().row_distances[form.metric](row, block, form, distances);
            return;
        }
        for (std::int64_t j = 0; j < block.rows; ++j) {
            const double given = static_cast<double>(row[options_.order[firsts_[1] + first + j]]) * form.scale;
            distances[j] = given >= 0 ? static_cast<T>(given) : T(-1);  // NaN: unknown
        }
    }

    const SgdRound<T>& options_;
    std::int64_t firsts_[2], counts_[2];
    std::vector<T> coordinates_, targets_;
};

// One round: each block is paired with one other; (n, k) coordinates change in place. Returns Σ (δ - d)² before the moves.
template <class T>
double mds_sgd_round(const SgdRound<T>& options, std::int64_t round, T* y, const ThreadTeam& team) {
    const std::int64_t blocks = block_count(options.x.rows, options.size), players = blocks + blocks % 2;
    std::vector<double> sums(static_cast<std::size_t>(players / 2), 0.0);
    parallel_blocks(players / 2, team, [&](std::int64_t pair) {
        const auto [a, b] = round_robin_pair(players, round % (players - 1), pair);
        if (a >= blocks || b >= blocks) return;  // the last block of an odd number has no partner
        SgdBlockPair<T> both(options, a, b, y);
        sums[static_cast<std::size_t>(pair)] = both.update();
        both.write(y);
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace lowdim
