// Geodesic distances and their Gram matrix.
#pragma once

#include <cstdint>

namespace lowdim {

constexpr int batch_sources = 16;  // sources whose shortest paths are found together

// A graph with nonnegative edge lengths, in compressed sparse rows.
struct WeightedGraph {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* lengths;
    std::int64_t n;
};

// A row whose squared distances are own + other[j] + factor × row[j], and its point in the embedding.
struct GeodesicRow {
    const float* row;
    double own;
    double factor;
    const double* position;
};

struct IsomapKernels {
    std::int64_t (*relax_sweep)(const WeightedGraph&, const std::int32_t*, bool, std::uint8_t*, float*);
    double (*square_row)(float*, std::int64_t);
    double (*double_center_row)(float*, const double*, double, std::int64_t);
    void (*gram_times)(const float*, std::int64_t, std::int64_t, const double*, std::int64_t, double*);
    void (*correlation_sums)(const GeodesicRow&, const double*, const double*, std::int64_t, std::int64_t, double*);
};

}  // namespace lowdim
