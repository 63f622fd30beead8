// Ways along a graph, and the Gram matrix that they make.
#pragma once

#include <cstdint>

namespace lowdim {

constexpr int batch_sources = 16;  // sources whose distances along a graph are found together

// Compressed rows of edge lengths, none negative.
struct WeightedGraph {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* lengths;
    std::int64_t n;
};

// A row of a table that holds squared distances, up to own + other[j] + factor × entry, and its point on a map.
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
