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

// ---- pairs of points in a map ----

constexpr std::int64_t pair_block = 128;  // rows and columns of a tile of pairs
constexpr int hull_run = 512;              // values whose pools are found at once
constexpr std::int64_t party_size = 64;   // points that meet all points of another party at once

// Where pair (i, j), i < j, of n stands in the packed triangle.
inline std::int64_t pair_index(std::int64_t i, std::int64_t j, std::int64_t n) { return i * n - i * (i + 1) / 2 + j - i - 1; }

// A map of n points and the distances that it should show.
template <class T>
struct PairTable {
    const T* y;                 // (k, n)
    const T* targets;           // by pair; by slot if there are slots
    const T* weights;           // by pair; null: all one
    const std::int32_t* slots;  // where the target of a pair stands; may be null
    std::int64_t n, k;
};

struct PairTile {
    std::int64_t row_begin, row_end, column_begin, column_end;
};

// Σ w (δ - d)² (or of squares), Σ w d², Σ w d (d - δ)
struct PairSums {
    double stress, squares, drift;
};

template <class T>
struct PairKernels {
    void (*pull[2])(const PairTable<T>&, const PairTile&, T*, double*, double*, PairSums&);  // stress, squared stress
    void (*map_distances)(const PairTable<T>&, std::int64_t, std::int64_t, T*);
    void (*line)(const PairTable<T>&, const T*, std::int64_t, std::int64_t, double*);
    bool (*place)(const PairTable<T>&, std::int64_t, double, double*, double*);
    void (*measure[3])(const T*, const RowBlock<T>&, bool, T, T*);
    double (*meet)(T*, T*, const T*, std::int64_t, std::int64_t, T);
};

struct SmacofKernels {
    PairKernels<float> narrow;
    PairKernels<double> wide;
    int (*hull_edges)(const double*, const double*, int, std::int32_t*);

    template <class T>
    const PairKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return narrow;
        } else {
            return wide;
        }
    }
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
    SmacofKernels smacof;

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
