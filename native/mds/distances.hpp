// Distances of all pairs of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

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

}  // namespace lowdim
