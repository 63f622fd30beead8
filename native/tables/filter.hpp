// Polynomials of a sparse matrix, applied to a block of vectors.
#pragma once

#include <cstdint>

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

struct FilterKernels {
    void (*rows[3])(const FilterStep&, std::int64_t, std::int64_t);  // of 8, 16 and 32 vectors
};

}  // namespace lowdim
