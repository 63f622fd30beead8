// Polynomials of a sparse matrix applied to a block of vectors, by three-term recurrences.
#pragma once

#include <cstdint>

#include "dispatch/tables/sparse.hpp"

namespace lowdim {

// out = scale (S x) + shift x + z_scale z, with S symmetric in compressed sparse rows (float32).
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

// out = factor (M source - center current) - previous_factor previous, in `width` columns (float64).
struct ChebyshevStep {
    const double* previous;
    const double* current;
    const double* source;  // the vectors that M multiplies: `current`, or the product with the first of two factors
    double* out;
    std::int64_t width;
    double center, factor, previous_factor;
};

struct ChebyshevKernels {
    void (*three_term[3])(const ThreeTermStep&, std::int64_t, std::int64_t);  // for 8, 16 and 32 vectors
    void (*chebyshev_rows)(const SparseBlock<double, std::int32_t>&, std::int64_t, std::int64_t, const ChebyshevStep&);
};

}  // namespace lowdim
