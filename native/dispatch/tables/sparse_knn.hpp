// Nearest neighbors of sparse rows: an inverted index, by blocks of rows, and the kernels that read it.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"
#include "dispatch/tables/knn.hpp"

namespace lowdim {

// How a sum over the columns that two rows share becomes their distance.
struct SparseMeasure {
    int metric;  // squares, magnitudes, or one of sets
    int root;
    double scale;
    double columns;
};

// Compressed sparse rows with ascending columns, and what a distance takes of a row beside its sum with another:
// squares: |a|² + |b|² - 2 (f_a f_b Σ x y - o_a o_b); magnitudes: |a| + |b| - 2 Σ shared; sets: their sizes.
template <class T>
struct SparseRows {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const T* values;
    const double* sizes;    // |a|² of the scaled row, less o_a²; |a|; or the number of elements
    const double* factors;  // f: rows are scaled to unit length without a copy
    const double* offsets;  // o: the root of the number of columns times the mean of the scaled row, for correlations
    std::int64_t rows;
};

// A block of rows by columns. Rows of the block are numbered from 0; columns that are filled well are kept as a dense panel
// instead, in groups of lanes, column by column.
template <class T>
struct ColumnBlock {
    const std::int32_t* starts;  // (columns + 1,)
    const std::uint16_t* rows;
    const T* values;
    const double* panel;
    std::int64_t panel_columns;
    std::int64_t columns;
    std::int64_t begin, count;  // rows of the table
};

// Queries against a block of the rows that are indexed.
template <class T>
struct SparsePair {
    SparseRows<T> queries, base;
    SparseMeasure measure;
    std::int64_t begin, count;     // rows of the base
    bool same;                     // query i is row i of the base, and not its own neighbor
    const std::int32_t* self_ids;  // the row of the base that a query is, or null
    double* limits;                // of the base rows, which keep lists as well (queries are rows of the base then); or null
};

template <class T>
struct SparseKnnKernels {
    void (*add_columns[2])(const SparseRows<T>&, std::int64_t, const ColumnBlock<T>&, double*);
    void (*keep_nearer[metric_yule + 1])(const SparsePair<T>&, std::int64_t, const double*, double*, const NeighborLists&);
};

// What does not depend on the type of the values.
struct PanelKernels {
    int lanes;
    int tile;  // rows of queries at a time
    void (*sum_panels[2])(const double*, std::int64_t, const double*, std::int64_t, std::int64_t, double*, std::int64_t);
    double (*sum_limit)(float, bool, const SparseMeasure&);
};

}  // namespace lowdim
