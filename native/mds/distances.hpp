// Distances of all pairs of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// The number of rows with d columns that stay in the L1 cache while others are compared with them: a multiple of four.
template <class T>
std::int64_t rows_in_cache(std::int64_t d) {
    const std::int64_t fitting = (std::int64_t{24} << 10) / (static_cast<std::int64_t>(sizeof(T)) * std::max<std::int64_t>(d, 1));
    return std::clamp<std::int64_t>(fitting / 4 * 4, 4, 64);
}

// Distances of all pairs of rows, packed; or from every row of x to every row of `others`, as a matrix.
template <class T>
void pairwise_distances(const RowBlock<T>& x, const RowBlock<T>* others, const MetricForm<T>& form, T* out, const ThreadTeam& team) {
    constexpr std::int64_t rows_per_block = 32;  // rows owned by one thread
    const RowBlock<T>& base = others == nullptr ? x : *others;
    const auto row_distances = kernels().mds.of<T>().row_distances[form.metric];
    const std::int64_t cached_rows = rows_in_cache<T>(x.columns);
    parallel_ranges(x.rows, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t first = others == nullptr ? begin : 0; first < base.rows; first += cached_rows) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t from = others == nullptr ? std::max(first, i + 1) : first;
                const std::int64_t count = std::min(base.rows, first + cached_rows) - from;
                if (count <= 0) continue;
                T* target = out + (others == nullptr ? pair_index(i, from, x.rows) : i * base.rows + from);
                row_distances(x.row(i), {base.row(from), count, base.columns, base.stride}, form, target);
            }
        }
    });
}

}  // namespace lowdim
