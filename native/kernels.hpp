// The table of kernels that exist once for every instruction set.
#pragma once

#include <cstdint>

namespace lowdim {

// Rows of contiguous values, `stride` values from one row to the next.
template <class T>
struct RowBlock {
    const T* data;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t stride;
    const T* row(std::int64_t i) const { return data + i * stride; }
};

template <class T>
struct MomentKernels {
    bool (*column_sums)(const RowBlock<T>&, const std::int32_t*, const double*, double*, std::int64_t);
    bool (*center)(const RowBlock<T>&, const std::int32_t*, const double*, const double*, const double*, T*);
    bool (*shift_rows)(const RowBlock<T>&, const T*, T*, double*);
    void (*subtract_outer)(T*, const double*, double, std::int64_t);
    void (*add_scatter)(double*, const T*, const double*, std::int64_t, std::int64_t);
};

// Compressed sparse rows; `columns` and `values` hold the entries starts[i] … starts[i + 1] of row i.
template <class T, class I>
struct SparseBlock {
    const I* starts;
    const I* columns;
    const T* values;
    std::int64_t rows;
};

template <class T, class I>
struct SparseKernels {
    void (*times)(const SparseBlock<T, I>&, const T*, std::int64_t, T*);
    void (*transpose_times)(const SparseBlock<T, I>&, const T*, std::int64_t, double*);
};

// ---- neighbours ----

enum Metric : int { metric_squares, metric_magnitudes, metric_largest, metric_hamming, metric_jaccard };

constexpr std::int32_t nobody = 0x7fffffff;  // the index in an empty place of a list

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
    const std::int64_t* slots;  // where the rows' own lists are; null if they keep none
    std::int64_t rows;
};

struct Update {
    std::int32_t row;
    std::int32_t candidate;
    float distance;
};

// Rows that may be one another's neighbours, because they have one in common.
struct Party {
    const std::int32_t* members;
    const std::uint8_t* fresh;
    std::int64_t count;
};

struct Candidates {
    const std::int32_t* rows;  // null: all of them
    std::int64_t count;
    std::int32_t self;  // not a neighbour of itself
};

// From a sum over columns to the distance that is reported.
struct Measure {
    int metric;
    bool root;
    double scale;
};

struct Walk {
    const std::int32_t* indices;  // (n, k) the graph
    std::int64_t k;
    std::int64_t seen_size;
};

struct NeighborKernels {
    int tile;  // blocks are padded to a multiple of this
    void (*pack_rows)(const RowBlock<float>&, const std::int32_t*, const float*, float*, float*);
    void (*sweep[5])(const PackedRows&, const PackedRows&, std::int64_t, const NeighborLists&);
    void (*select_rows)(const RowBlock<float>&, const std::int32_t*, std::int32_t, const NeighborLists&);
    void (*merge_lists)(const NeighborLists&, const NeighborLists&, std::int64_t, std::int64_t);
    std::int64_t (*join[3])(const RowBlock<float>&, const Party&, const NeighborLists&, float*, Update*);
    std::int64_t (*apply_updates)(const NeighborLists&, std::uint8_t*, const Update*, std::int64_t);
    void (*walk[3])(const RowBlock<float>&, const float*, const Walk&, const NeighborLists&, std::int64_t, std::uint8_t*,
                    std::int32_t*);
    void (*refine32)(const float*, const RowBlock<float>&, const Candidates&, const Measure&, const NeighborLists&,
                     std::int64_t);
    void (*refine64)(const double*, const RowBlock<double>&, const Candidates&, const Measure&, const NeighborLists&,
                     std::int64_t);

    template <class T>
    auto refine() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return refine32;
        } else {
            return refine64;
        }
    }
};

// ---- UMAP ----

struct UmapForces {
    float a;  // of the membership 1 / (1 + a d^2b) in the map
    float b;
    float repulsion;
    std::int32_t pulls;  // moves of its owner for each turn of an edge: 2 where the edge leaves the other end to its own owner
    std::int32_t negatives;
};

// One epoch, as the rows of one block see it.
struct UmapStep {
    const std::int32_t* order;   // heads, those with like numbers of turns together
    const std::int64_t* starts;  // the edges of head order[i] are starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;  // how often an edge has its turn, of 2^32
    const float* heads;          // (m, dims)
    const float* others;         // (count, dims): heads themselves, or a map that stays as it is
    float* out;
    std::int64_t out_first;  // place in `order` of the first row of `out`
    std::int64_t count;
    std::int64_t dims;
    UmapForces forces;
    float alpha;
    std::uint32_t tick;
    std::uint32_t key;       // of the draws of this epoch
    bool same_draws;         // every head draws the same
    const float* crowding;   // densMAP: two numbers a row, or null
    const float* inverse;    // and one over the weight of each edge
};

// Of one thread: `tails` and `inverse` hold the turns of a group of rows, `store` their coordinates.
struct UmapScratch {
    std::int32_t* tails;
    float* inverse;
    float* store;
    std::int64_t pitch;  // from the list of one row to that of the next
};

struct UmapKernels {
    int owners;  // rows that are moved at once
    void (*rows[4])(const UmapStep&, std::int64_t, std::int64_t, const UmapScratch&);
    void (*radii)(const UmapStep&, std::int64_t, std::int64_t, float*, float*);
    void (*powers)(const float*, float, float*, std::int64_t);
};

// out = scale (S x) + shift x + back z, S symmetric in compressed rows.
struct FilterStep {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* values;
    const float* x;
    const float* z;
    float* out;
    float scale;
    float shift;
    float back;
};

struct FilterKernels {
    void (*rows[3])(const FilterStep&, std::int64_t, std::int64_t);  // of 8, 16 and 32 vectors
};

struct Kernels {
    const char* name;
    MomentKernels<float> moments32;
    MomentKernels<double> moments64;
    SparseKernels<float, std::int32_t> sparse32;
    SparseKernels<double, std::int32_t> sparse64;
    SparseKernels<float, std::int64_t> sparse32_long;
    SparseKernels<double, std::int64_t> sparse64_long;
    NeighborKernels neighbors;
    UmapKernels umap;
    FilterKernels filter;

    template <class T>
    const MomentKernels<T>& moments() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return moments32;
        } else {
            return moments64;
        }
    }

    template <class T, class I>
    const SparseKernels<T, I>& sparse() const {
        if constexpr (sizeof(I) == 4 && sizeof(T) == 4) {
            return sparse32;
        } else if constexpr (sizeof(I) == 4) {
            return sparse64;
        } else if constexpr (sizeof(T) == 4) {
            return sparse32_long;
        } else {
            return sparse64_long;
        }
    }
};

// The best table that this processor can run, or the one that LOWDIM_ISA names.
const Kernels& kernels();

}  // namespace lowdim
