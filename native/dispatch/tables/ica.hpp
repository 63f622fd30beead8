// Independent component analysis: a pass over whitened rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr int ica_contrasts = 3;          // logcosh, exp, cube
constexpr std::int64_t ica_sums = 3;      // per source: ψ', ψ' y² and ρ
constexpr std::int64_t ica_padding = 16;  // keeps the columns of a block off one another's cache sets
constexpr int ica_source_tile = 6;        // sources that are computed together

// Rows of a block: as many as stay in the second-level cache, and enough to pay for the sums over lanes at its end.
constexpr std::int64_t ica_block_rows(std::int64_t columns, std::size_t bytes) {
    const std::int64_t fitting = (std::int64_t{1} << 18) / (static_cast<std::int64_t>(bytes) * std::max<std::int64_t>(columns, 1));
    return std::clamp<std::int64_t>(fitting / 64 * 64, 64, 256);
}

constexpr std::int64_t ica_stride(std::int64_t columns, std::size_t bytes) { return ica_block_rows(columns, bytes) + ica_padding; }

// Values of scratch memory: a transposed block, its weights, and a tile of sources.
constexpr std::int64_t ica_scratch(std::int64_t columns, std::size_t bytes) {
    return (columns + 1 + ica_source_tile) * ica_stride(columns, bytes);
}

template <class T>
struct IcaPass {
    const T* rows;          // (n, columns), whitened
    const T* unmixing;      // (sources, columns)
    const double* weights;  // (n,), or null
    std::int64_t n;
    std::int64_t columns;
    std::int64_t sources;
    std::int64_t block_rows;  // of a canonical block: see chunk_rows in data/rows/base.py
};

template <class T>
struct IcaKernels {
    // rows begin … end, scratch, moments (sources, columns), sums (sources, ica_sums)
    void (*block[ica_contrasts])(const IcaPass<T>&, std::int64_t, std::int64_t, T*, double*, double*);
    void (*values[ica_contrasts])(const T*, std::int64_t, T*, T*, T*);
};

}  // namespace lowdim
