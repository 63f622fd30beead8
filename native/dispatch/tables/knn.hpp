// Nearest-neighbor lists and the kernels that fill them.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

enum Metric : int { metric_squared_euclidean, metric_manhattan, metric_chebyshev, metric_hamming, metric_jaccard };

constexpr std::int32_t empty_index = 0x7fffffff;  // the index in an unfilled entry of a list

// (rows, k) ascending distances and their indices.
struct NeighborLists {
    float* distances;
    std::int32_t* indices;
    std::int64_t k;
};

// A block of rows in the layout of the tiles (or, for bits, packed words row by row).
struct PackedRows {
    const float* values;
    const float* norms;
    float* limits;              // current k-th distance of each row: no farther neighbor is kept
    const std::int32_t* ids;    // the rows' ids in the lists of others
    float* partial;             // scratch for the partial sums of a tile, for every row
    const std::int64_t* slots;  // positions of the rows' own lists; null if they keep none
    std::int64_t rows;
};

struct Update {
    std::int32_t row;
    std::int32_t candidate;
    float distance;
};

// Rows that share a neighbor and may therefore be neighbors; those flagged new come first.
struct JoinGroup {
    const std::int32_t* members;
    std::int64_t new_count;
    std::int64_t count;
};

struct Candidates {
    const std::int32_t* rows;  // null: all rows
    std::int64_t count;
    std::int32_t self;  // excluded, because a row is not its own neighbor
};

// How a sum over columns becomes the reported distance.
struct MetricForm {
    int metric;
    bool root;
    double scale;
};

struct GraphSearch {
    const std::int32_t* indices;  // (n, k) the neighbor graph
    std::int64_t k;
    std::int64_t visited_size;
};

template <class T>
using Refine = void (*)(const T*, const RowBlock<T>&, const Candidates&, const MetricForm&, const NeighborLists&, std::int64_t);

struct KnnKernels {
    int tile;  // blocks are padded to a multiple of this
    void (*pack_rows)(const RowBlock<float>&, const std::int32_t*, const float*, float*, float*);
    void (*sweep[5])(const PackedRows&, const PackedRows&, std::int64_t, const NeighborLists&);
    void (*select_nearest)(const RowBlock<float>&, const std::int32_t*, std::int32_t, const NeighborLists&);
    void (*merge_lists)(const NeighborLists&, const NeighborLists&, std::int64_t, std::int64_t);
    std::int64_t (*local_join[3])(const RowBlock<float>&, const JoinGroup&, const NeighborLists&, float*, Update*);
    std::int64_t (*apply_updates)(const NeighborLists&, std::uint8_t*, const Update*, std::int64_t);
    void (*score_row[3])(const RowBlock<float>&, std::int64_t, const std::int32_t*, std::int64_t, const NeighborLists&);
    void (*graph_search[3])(const RowBlock<float>&, const float*, const GraphSearch&, const NeighborLists&, std::int64_t, std::uint8_t*,
                            std::int32_t*);
    PerPrecision<Refine> refine;
};

}  // namespace lowdim
