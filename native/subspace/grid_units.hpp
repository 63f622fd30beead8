// CLIQUE's units: bitmaps of the intervals, supports of candidate units, and the rows of a cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// One bitmap over the rows per interval; those of column j are starts[j] … starts[j + 1] - 1.
struct Bitmaps {
    const std::uint64_t* data;
    std::int64_t items, words;
};

constexpr std::int64_t units_per_task = 64;
constexpr std::int64_t words_per_task = 4096;

// Sets the bit of row `first + i` in the bitmap of the interval that codes(j, i) names, for every column j.
inline void set_interval_bits(const std::int16_t* codes, std::int64_t columns, std::int64_t rows, const std::int32_t* starts,
                              std::int64_t first, std::uint64_t* bitmaps, std::int64_t words, const ThreadTeam& team) {
    parallel_blocks(columns, team, [&](std::int64_t j) {
        const std::int16_t* code = codes + j * rows;
        std::uint64_t* own = bitmaps + starts[j] * words;
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int64_t row = first + i;
            own[code[i] * words + row / 64] |= std::uint64_t{1} << (row % 64);
        }
    });
}

inline void count_units(const Bitmaps& bitmaps, const std::int32_t* units, std::int64_t count, std::int64_t k, std::int64_t* supports,
                        const ThreadTeam& team) {
    std::vector<std::vector<std::uint64_t>> scratch(static_cast<std::size_t>(team.threads));
    parallel_ranges(count, units_per_task, team, [&](std::int64_t begin, std::int64_t end) {
        auto& own = scratch[thread_index()];
        own.resize(static_cast<std::size_t>(k * unit_block_words));
        kernels().subspace.unit_supports(bitmaps.data, bitmaps.words, units + begin * k, end - begin, k, own.data(), supports + begin);
    });
}

inline void unite_rows(const Bitmaps& bitmaps, const std::int32_t* units, std::int64_t count, std::int64_t k, std::uint64_t* out,
                       const ThreadTeam& team) {
    std::vector<std::vector<std::uint64_t>> scratch(static_cast<std::size_t>(team.threads));
    parallel_ranges(bitmaps.words, words_per_task, team, [&](std::int64_t begin, std::int64_t end) {
        auto& own = scratch[thread_index()];
        own.resize(static_cast<std::size_t>(unit_block_words));
        kernels().subspace.unite_units(bitmaps.data, bitmaps.words, units, count, k, begin, end, own.data(), out);
    });
}

}  // namespace lowdim
