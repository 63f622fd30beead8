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

// ---- t-SNE ----

// Symmetric affinities in compressed sparse rows.
struct MapEdges {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* values;
};

struct Descent {
    float exaggeration, rate, momentum, longest;
    float inverse_sum;  // one over the sum that normalises the repulsion
    float inverse_dof, factor;
};

struct Mesh {
    std::int64_t cells[3];
    float origin[3];
    float inverse_spacing;
};

struct MeshFields {
    const float* values;  // one field after another; null if there are none
    std::int64_t field;   // from one field to the next
    std::int64_t row;     // from one row of the last axis to the next
};

struct FrozenMap {
    const float* y;
    const float* axes;  // the same coordinates, one axis after another
    std::int64_t n;
    float dof, inverse_mean, rate, momentum, longest;
    int steps;
};

template <int D>
struct MapKernels {
    void (*descend)(const MapEdges&, const Descent&, const float*, const float*, float*, float*, float*, std::int64_t,
                    std::int64_t, double*);
    double (*log_lengths)(const MapEdges&, const float*, double, std::int64_t, std::int64_t);
    double (*repel_directly)(const float*, const float*, std::int64_t, float, std::int64_t, std::int64_t, float*);
    void (*first_nodes)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int32_t*);
    void (*spread_masses)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
    double (*gather_forces)(const Mesh&, const MeshFields&, const float*, std::int64_t, std::int64_t, float*);
    void (*place_rows)(const FrozenMap&, const Mesh&, const MeshFields&, const MapEdges&, std::int64_t, std::int64_t, float*);
};

struct TsneKernels {
    void (*calibrate_row)(const float*, std::int64_t, double, double*, double*);
    void (*multiply_spectra)(const float*, const float*, int, std::int64_t, std::int64_t, std::int64_t, float*);
    MapKernels<1> line;
    MapKernels<2> plane;
    MapKernels<3> space;

    template <int D>
    const MapKernels<D>& on() const {
        if constexpr (D == 1) {
            return line;
        } else if constexpr (D == 2) {
            return plane;
        } else {
            return space;
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
    TsneKernels tsne;

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
