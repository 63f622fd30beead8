// Joint affinities: conditional ones made symmetric, and their rows put in another order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace lowdim {

constexpr std::int64_t rows_a_block = 512;

inline std::int64_t blocks_of(std::int64_t rows) { return (rows + rows_a_block - 1) / rows_a_block; }

template <class Body>
void over_rows(std::int64_t rows, int threads, Stop& stop, const Body& body) {
    parallel_blocks(blocks_of(rows), threads, stop, [&](std::int64_t block) {
        body(block * rows_a_block, std::min(rows, (block + 1) * rows_a_block), block);
    });
}

// Row i of A + Aᵀ, where A has k entries (columns, values) in each of n rows.
class Symmetric {
  public:
    Symmetric(const std::int32_t* columns, const float* values, std::int64_t n, std::int64_t k, int threads, Stop& stop)
        : n_(n), k_(k), own_(static_cast<std::size_t>(n * k)), back_(static_cast<std::size_t>(n * k)),
          back_starts_(static_cast<std::size_t>(n + 1)) {
        over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            for (std::int64_t p = begin * k; p < end * k; ++p) own_[p] = {columns[p], values[p]};
            for (std::int64_t i = begin; i < end; ++i) std::sort(own_.begin() + i * k, own_.begin() + (i + 1) * k);
        });
        for (std::int64_t p = 0; p < n * k; ++p) ++back_starts_[columns[p] + 1];
        for (std::int64_t i = 0; i < n; ++i) back_starts_[i + 1] += back_starts_[i];
        std::vector<std::int64_t> next(back_starts_.begin(), back_starts_.end() - 1);
        for (std::int64_t i = 0; i < n; ++i)  // rows in order, so every list of those who name a row ascends
            for (std::int64_t p = i * k; p < (i + 1) * k; ++p)
                back_[next[own_[p].first]++] = {static_cast<std::int32_t>(i), own_[p].second};
    }

    // visit(column, sum) for the entries of row i, columns ascending.
    template <class Visit>
    void row(std::int64_t i, const Visit& visit) const {
        auto a = own_.begin() + i * k_, a_end = a + k_;
        auto b = back_.begin() + back_starts_[i], b_end = back_.begin() + back_starts_[i + 1];
        while (a != a_end || b != b_end) {
            if (b == b_end || (a != a_end && a->first < b->first)) {
                visit(a->first, a->second);
                ++a;
            } else if (a == a_end || b->first < a->first) {
                visit(b->first, b->second);
                ++b;
            } else {
                visit(a->first, a->second + b->second);
                ++a, ++b;
            }
        }
    }

    std::int64_t rows() const { return n_; }

  private:
    std::int64_t n_, k_;
    std::vector<std::pair<std::int32_t, float>> own_, back_;
    std::vector<std::int64_t> back_starts_;
};

// New row r is old row order[r]; columns are renamed to match.
inline void reorder_edges(const MapEdges& edges, std::int64_t n, const std::int32_t* order, std::int64_t* starts,
                          std::int32_t* columns, float* values, int threads, Stop& stop) {
    std::vector<std::int32_t> names(static_cast<std::size_t>(n));
    starts[0] = 0;
    for (std::int64_t r = 0; r < n; ++r) {
        names[order[r]] = static_cast<std::int32_t>(r);
        starts[r + 1] = starts[r] + edges.starts[order[r] + 1] - edges.starts[order[r]];
    }
    over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t from = edges.starts[order[r]], count = starts[r + 1] - starts[r];
            for (std::int64_t p = 0; p < count; ++p) columns[starts[r] + p] = names[edges.columns[from + p]];
            std::copy(edges.values + from, edges.values + from + count, values + starts[r]);
        }
    });
}

}  // namespace lowdim
