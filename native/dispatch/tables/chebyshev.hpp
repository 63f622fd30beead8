// Polynomials of a sparse matrix, applied to a block of vectors.
#pragma once

#include <cstdint>

#include "dispatch/tables/sparse.hpp"

namespace lowdim {

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

// out = factor (M source - centre now) - share before, in `width` columns.
struct ChebyshevStep {
    const double* before;
    const double* now;
    const double* source;  // what the matrix is multiplied by: `now`, or what the first of two factors made of it
    double* out;
    std::int64_t width;
    double centre, factor, share;
};

struct ChebyshevKernels {
    void (*rows[3])(const FilterStep&, std::int64_t, std::int64_t);  // of 8, 16 and 32 vectors
    void (*chebyshev_rows)(const SparseBlock<double, std::int32_t>&, std::int64_t, std::int64_t, const ChebyshevStep&);
};

}  // namespace lowdim
