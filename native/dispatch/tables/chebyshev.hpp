// Polynomials of a sparse matrix, applied to a block of vectors.
#pragma once

#include <cstdint>

#include "dispatch/tables/sparse.hpp"

namespace lowdim {

// out = scale (S x) + shift x + back z, S symmetric in compressed rows.
struct ThreeTermStep {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* values;
    const float* x;
    const float* z;
    float* out;
    float scale;
    float shift;
    float z_scale;
};

// out = factor (M source - centre now) - share before, in `width` columns.
struct ChebyshevStep {
    const double* previous;
    const double* current;
    const double* source;  // what the matrix is multiplied by: `now`, or what the first of two factors made of it
    double* out;
    std::int64_t width;
    double center, factor, previous_factor;
};

struct ChebyshevKernels {
    void (*three_term[3])(const ThreeTermStep&, std::int64_t, std::int64_t);  // of 8, 16 and 32 vectors
    void (*chebyshev_rows)(const SparseBlock<double, std::int32_t>&, std::int64_t, std::int64_t, const ChebyshevStep&);
};

}  // namespace lowdim
