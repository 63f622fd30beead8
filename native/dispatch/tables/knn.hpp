// Lists of nearest neighbours, and what fills them.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

enum Metric : int { metric_squared_euclidean, metric_manhattan, metric_chebyshev, metric_hamming, metric_jaccard };

constexpr std::int32_t empty_index = 0x7fffffff;  // the index in an empty place of a list

// (rows, k) distances, ascending, and the indices they belong to.
struct NeighborLists {
    float* distances;
    std::int32_t* indices;
    std::int64_t k;
};

// A block of rows in the layout of the tiles (or, for bits, one row of words after another).
struct PackedRows {
    const float* values;
    const float* norms;
    float* limits;              // the distance beyond which a row wants no neighbour
    const std::int32_t* ids;    // what the rows are called in the lists of others
    float* partial;             // room for the sums of a tile's columns so far, for every row
    const std::int64_t* slots;  // where the rows' own lists are; null if they keep none
    std::int64_t rows;
};

struct Update {
    std::int32_t row;
    std::int32_t candidate;
    float distance;
};

// Rows that may be one another's neighbours, because they have one in common; the newcomers among them come first.
struct JoinGroup {
    const std::int32_t* members;
    std::int64_t new_count;
    std::int64_t count;
};

struct Candidates {
    const std::int32_t* rows;  // null: all of them
    std::int64_t count;
    std::int32_t self;  // not a neighbour of itself
};

// From a sum over columns to the distance that is reported.
struct MetricForm {
    int metric;
    bool root;
    double scale;
};

struct GraphSearch {
    const std::int32_t* indices;  // (n, k) the graph
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
