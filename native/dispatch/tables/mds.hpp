// Multidimensional scaling: passes over all pairs of points.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"
#include "dispatch/tables/knn.hpp"

namespace lowdim {

constexpr std::int64_t pair_block = 128;     // rows and columns of a tile of pairs
constexpr int hull_run_length = 128;         // values whose pools are found at once
constexpr std::int64_t sgd_block_size = 64;  // points per block in stochastic gradient descent

// The position of pair (i, j), i < j, of n points in the packed triangle.
inline std::int64_t pair_index(std::int64_t i, std::int64_t j, std::int64_t n) { return i * n - i * (i + 1) / 2 + j - i - 1; }

// An embedding of n points and its target distances.
template <class T>
struct PairTable {
    const T* y;                 // (k, n)
    const T* targets;           // by pair; by slot if there are slots
    const T* weights;           // by pair; null: all one
    const std::int32_t* slots;  // the position of each pair's target, tile by tile; may be null
    std::int64_t n, k;
};

struct PairTile {
    std::int64_t row_begin, row_end, column_begin, column_end;
    std::int64_t first_pair;  // number of pairs in the tiles before this one
};

// Σ w (δ - d)² (of squares for squared stress), Σ w d², Σ w d (d - δ)
struct PairSums {
    double stress, squares, scale_slope;
};

// Values in an order that may differ from their storage order.
template <class T>
struct OrderedValues {
    const T* values;
    const T* weights;               // null: all one
    const std::int32_t* positions;  // storage position of the i-th value (and weight, and result); null: i
    std::int64_t n;
};

template <class T>
struct MdsKernels {
    void (*stress_tile[2])(const PairTable<T>&, const PairTile&, T*, double*, double*, PairSums&);  // stress, squared stress
    void (*map_distances)(const PairTable<T>&, const PairTile&, T*);
    void (*sstress_line_tile)(const PairTable<T>&, const T*, std::int64_t, std::int64_t, double*);
    bool (*majorize_point)(const PairTable<T>&, std::int64_t, double, double*, double*);
    void (*row_distances[metric_count])(const T*, const RowBlock<T>&, const MetricForm<T>&, T*);
    double (*sgd_block_pair)(T*, T*, const T*, std::int64_t, std::int64_t, T);
    void (*running_sums)(const OrderedValues<T>&, std::int64_t, int, int, double*, double*);
};

struct MdsFamilyKernels : PerPrecision<MdsKernels> {
    int (*hull_edges)(const double*, const double*, int, std::int32_t*);
    double (*min_below_line)(const double*, const double*, int, double);
};

}  // namespace lowdim
