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
struct Party {
    const std::int32_t* members;
    std::int64_t newcomers;
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
    void (*remeasure[3])(const RowBlock<float>&, std::int64_t, const std::int32_t*, std::int64_t, const NeighborLists&);
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

// ---- symmetric matrices of which half is stored ----

constexpr std::int64_t mirror_width = 16;  // the narrow matrix is padded to a multiple of this many columns

struct GramKernels {
    void (*mirrored32)(const RowBlock<float>&, std::int64_t, const float*, std::int64_t, double*, float*);
    void (*mirrored64)(const RowBlock<double>&, std::int64_t, const double*, std::int64_t, double*, double*);

    template <class T>
    auto mirrored() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return mirrored32;
        } else {
            return mirrored64;
        }
    }
};

// ---- manifolds ----

constexpr int lockstep = 16;  // sources whose distances along a graph are found together

// Compressed rows of edge lengths, none negative.
struct LengthGraph {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* lengths;
    std::int64_t n;
};

// A row of a table that holds squared distances, up to own + other[j] + factor × entry, and its point on a map.
struct PairRow {
    const float* row;
    double own;
    double factor;
    const double* at;
};

struct ManifoldKernels {
    std::int64_t (*relax_sweep)(const LengthGraph&, const std::int32_t*, bool, std::uint8_t*, float*);
    double (*square_row)(float*, std::int64_t);
    double (*center_row)(float*, const double*, double, std::int64_t);
    void (*gram_times)(const float*, std::int64_t, std::int64_t, const double*, std::int64_t, double*);
    void (*pair_sums)(const PairRow&, const double*, const double*, std::int64_t, std::int64_t, double*);
};

// ---- local patches (the LLE family) ----

constexpr int local_matrices_together = 8;

// out = factor (M source - centre now) - share before, in `width` columns.
struct ChebyshevStep {
    const double* before;
    const double* now;
    const double* source;  // what the matrix is multiplied by: `now`, or what the first of two factors made of it
    double* out;
    std::int64_t width;
    double centre, factor, share;
};

struct LocalKernels {
    void (*gram32)(const RowBlock<float>&, const float*, const std::int32_t*, std::int64_t, double*, double*);
    void (*gram64)(const RowBlock<double>&, const double*, const std::int32_t*, std::int64_t, double*, double*);
    void (*weights)(const double*, std::int64_t, std::int64_t, double, double*, double*);
    void (*eigen)(const double*, std::int64_t, std::int64_t, double*, double*, double*);
    void (*chebyshev_rows)(const SparseBlock<double, std::int32_t>&, std::int64_t, std::int64_t, const ChebyshevStep&);

    template <class T>
    auto gram() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return gram32;
        } else {
            return gram64;
        }
    }
};

// ---- pairs of points in a map ----

constexpr std::int64_t pair_block = 128;  // rows and columns of a tile of pairs
constexpr int hull_run = 128;             // values whose pools are found at once
constexpr std::int64_t party_size = 64;   // points that meet all points of another party at once

// Where pair (i, j), i < j, of n stands in the packed triangle.
inline std::int64_t pair_index(std::int64_t i, std::int64_t j, std::int64_t n) { return i * n - i * (i + 1) / 2 + j - i - 1; }

// A map of n points and the distances that it should show.
template <class T>
struct PairTable {
    const T* y;                 // (k, n)
    const T* targets;           // by pair; by slot if there are slots
    const T* weights;           // by pair; null: all one
    const std::int32_t* slots;  // where the target of a pair stands, tile after tile; may be null
    std::int64_t n, k;
};

struct PairTile {
    std::int64_t row_begin, row_end, column_begin, column_end;
    std::int64_t before;  // pairs in the tiles before it
};

// Σ w (δ - d)² (or of squares), Σ w d², Σ w d (d - δ)
struct PairSums {
    double stress, squares, drift;
};

// Numbers in an order that may not be the one in which they stand.
template <class T>
struct Sequence {
    const T* values;
    const T* weights;            // null: all one
    const std::int32_t* places;  // where number i stands in both, and in what is made of them; null: at i
    std::int64_t n;
};

template <class T>
struct PairKernels {
    void (*pull[2])(const PairTable<T>&, const PairTile&, T*, double*, double*, PairSums&);  // stress, squared stress
    void (*map_distances)(const PairTable<T>&, const PairTile&, T*);
    void (*line)(const PairTable<T>&, const T*, std::int64_t, std::int64_t, double*);
    bool (*place)(const PairTable<T>&, std::int64_t, double, double*, double*);
    void (*measure[3])(const T*, const RowBlock<T>&, bool, T, T*);
    double (*meet)(T*, T*, const T*, std::int64_t, std::int64_t, T);
    void (*running_sums)(const Sequence<T>&, std::int64_t, int, int, double*, double*);
};

struct SmacofKernels {
    PairKernels<float> narrow;
    PairKernels<double> wide;
    int (*hull_edges)(const double*, const double*, int, std::int32_t*);
    double (*deepest)(const double*, const double*, int, double);

    template <class T>
    const PairKernels<T>& of() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return narrow;
        } else {
            return wide;
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
    std::int64_t cells[2];
    float origin[2];
    float inverse_spacing;
};

struct MeshFields {
    const float* values;  // one field after another; null if there are none
    std::int64_t field;   // from one field to the next
    std::int64_t row;     // from one row of the last axis to the next
};

// A node of an octree over points in space; nodes stand in depth-first order.
struct TreeNode {
    float middle[3];          // of its points
    float side;               // square of the longest side of the smallest box around them
    float mass;               // how many they are
    float spread[6];          // their covariance: 00, 11, 22, 01, 02, 12
    std::int32_t begin, end;  // which they are
    std::int32_t next;        // the first node that is not below this one; for a leaf, the one after it
};

struct Tree {
    const TreeNode* nodes;  // null if there is no tree
    std::int64_t count;
    const float* axes;  // coordinates of the points, one axis after another
    std::int64_t n;
    float opening;  // nodes whose `side` is more than this times their square distance are opened,
    float grain;    // unless it is less than this
};

// Room for what acts on one place: 3 n and 10 count floats.
struct TreeScratch {
    float* points;
    float* nodes;
};

struct FrozenMap {
    const float* y;
    const float* axes;  // the same coordinates, one axis after another
    std::int64_t n;
    float dof, inverse_mean, rate, momentum, longest;
    int steps;
    Tree tree;
};

template <int D>
struct MapKernels {
    void (*descend)(const MapEdges&, const Descent&, const float*, const float*, float*, float*, float*, std::int64_t,
                    std::int64_t, double*);
    double (*log_lengths)(const MapEdges&, const float*, double, std::int64_t, std::int64_t);
    double (*repel_directly)(const float*, const float*, std::int64_t, float, std::int64_t, std::int64_t, float*);
    void (*place_rows)(const FrozenMap&, const Mesh&, const MeshFields&, const MapEdges&, const TreeScratch&, std::int64_t,
                       std::int64_t, float*);
};

template <int D>
struct MeshKernels {
    void (*first_nodes)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int32_t*);
    void (*spread_masses)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
    double (*gather_forces)(const Mesh&, const MeshFields&, const float*, std::int64_t, std::int64_t, float*);
};

struct TreeKernels {
    void (*measure_node)(const Tree&, TreeNode&);
    double (*repel)(const Tree&, std::int64_t, std::int64_t, float, const std::int32_t*, const TreeScratch&, float*);
};

struct TsneKernels {
    void (*calibrate_row)(const float*, std::int64_t, double, double*, double*);
    void (*multiply_spectra)(const float*, const float*, int, std::int64_t, std::int64_t, std::int64_t, float*);
    bool (*name_rows)(const std::int32_t*, std::int64_t, std::int64_t);
    MapKernels<1> line;
    MapKernels<2> plane;
    MapKernels<3> space;
    MeshKernels<1> line_mesh;
    MeshKernels<2> plane_mesh;
    TreeKernels tree;

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

    template <int D>
    const MeshKernels<D>& mesh() const {
        if constexpr (D == 1) {
            return line_mesh;
        } else {
            return plane_mesh;
        }
    }
};

// ---- UMAP ----

struct UmapForces {
    float a;  // of the membership 1 / (1 + a d^2b) in the map
    float b;
    float repulsion;
    std::int32_t negatives;
};

// One half of a turn, or one epoch beside a map that stays.
struct UmapStep {
    const std::int64_t* starts;  // the edges of row i are starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;  // how often an edge has its turn, of 2^32
    const std::int32_t* firsts;  // the starts in 32 bits; as the turns, with room for a whole group behind the last row
    std::int32_t* turns;         // of row i in this epoch; their tails, and one over their weights, from starts[i] on
    std::int32_t* turn_tails;
    float* turn_inverse;
    const float* heads;   // (m, dims)
    const float* others;  // (count, dims): heads themselves, or a map that stays as it is
    float* out;           // (m, dims)
    std::int64_t count;
    std::int64_t dims;
    UmapForces forces;
    float alpha;
    std::uint32_t tick;
    std::uint32_t key;  // of the draws of this epoch
    std::int32_t half;
    bool same_draws;                  // every head draws the same
    const float* crowding;            // densMAP: two numbers a row, or null
    const float* crowding_of_others;  // the same of the others, if they move
    const float* inverse;             // and one over the weight of each edge
};

struct UmapKernels {
    int owners;  // rows that are moved at once
    void (*turns)(const UmapStep&, std::int64_t, std::int64_t);
    void (*half[4])(const UmapStep&, std::int64_t, std::int64_t, float*);    // the last is room for 3 dims owners numbers
    void (*beside[4])(const UmapStep&, std::int64_t, std::int64_t, float*);
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
    GramKernels gram;
    ManifoldKernels manifold;
    LocalKernels local;
    SmacofKernels smacof;
    TsneKernels tsne;
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
