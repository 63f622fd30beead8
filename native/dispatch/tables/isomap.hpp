// Ways along a graph, and the Gram matrix that they make.
#pragma once

#include <cstdint>

namespace lowdim {

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

}  // namespace lowdim
