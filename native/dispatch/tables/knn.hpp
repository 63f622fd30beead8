// Nearest-neighbor lists and the kernels that fill them.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

enum Metric : int {
    metric_squared_euclidean,
    metric_manhattan,
    metric_chebyshev,
    metric_hamming,  // from here to Yule's, of sets
    metric_jaccard,
    metric_dice,
    metric_russellrao,
    metric_rogerstanimoto,
    metric_sokalsneath,
    metric_yule,
    metric_minkowski,  // its parameter is the exponent
    metric_canberra,
    metric_braycurtis,
    metric_differing,  // the number of columns that differ
    metric_gower,      // its parameters are the weights of the columns
    metric_count
};

constexpr bool compares_bits(int metric) { return metric >= metric_hamming && metric <= metric_yule; }
constexpr bool in_tiles(int metric) { return metric <= metric_chebyshev; }

// How a sum over columns becomes a distance: as it is, its root, or the arc over a chord of that length on the unit sphere.
enum Root : int { root_none, root_square, root_arc };

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
    const float* params;  // of the metric; may be null
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

// Members up to whole registers of any instruction set.
constexpr std::int64_t padded_group(std::int64_t count) { return (count + 15) / 16 * 16; }

struct Candidates {
    const std::int32_t* rows;  // null: all rows
    std::int64_t count;
    std::int32_t self;  // excluded, because a row is not its own neighbor
};

// How a sum over columns becomes the reported distance.
template <class T>
struct MetricForm {
    int metric;
    int root;
    double scale;
    const T* params;  // weights of the columns, or an exponent; may be null
};

// Rows and the parameters of their metric.
struct MetricRows : RowBlock<float> {
    const float* params;
};

struct GraphSearch {
    const std::int32_t* indices;  // (n, k) the neighbor graph
    std::int64_t k;
    std::int64_t visited_size;
};

template <class T>
using Refine = void (*)(const T*, const RowBlock<T>&, const Candidates&, const MetricForm<T>&, const NeighborLists&, std::int64_t);

struct KnnKernels {
    int tile;  // blocks are padded to a multiple of this
    void (*pack_rows)(const RowBlock<float>&, const std::int32_t*, const float*, float*, float*);
    void (*sweep[metric_count])(const PackedRows&, const PackedRows&, std::int64_t, const NeighborLists&);
    void (*select_nearest)(const RowBlock<float>&, const std::int32_t*, std::int32_t, const NeighborLists&);
    void (*merge_lists)(const NeighborLists&, const NeighborLists&, std::int64_t, std::int64_t);
    std::int64_t (*local_join[metric_count])(const MetricRows&, const JoinGroup&, const NeighborLists&, float*, Update*);
    std::int64_t (*apply_updates)(const NeighborLists&, std::uint8_t*, const Update*, std::int64_t);
    void (*score_row[metric_count])(const MetricRows&, std::int64_t, const std::int32_t*, std::int64_t, const NeighborLists&);
    void (*graph_search[metric_count])(const MetricRows&, const float*, const GraphSearch&, const NeighborLists&, std::int64_t,
                                       std::uint8_t*, std::int32_t*);
    PerPrecision<Refine> refine;
};

}  // namespace lowdim
