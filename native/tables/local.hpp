// Local patches (the LLE family).
#pragma once

#include <cstdint>

#include "common.hpp"
#include "sparse.hpp"

namespace lowdim {

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

template <class T>
using LocalGram = void (*)(const RowBlock<T>&, const T*, const std::int32_t*, std::int64_t, double*, double*);

struct LocalKernels {
    Both<LocalGram> gram;
    void (*weights)(const double*, std::int64_t, std::int64_t, double, double*, double*);
    void (*eigen)(const double*, std::int64_t, std::int64_t, double*, double*, double*);
    void (*chebyshev_rows)(const SparseBlock<double, std::int32_t>&, std::int64_t, std::int64_t, const ChebyshevStep&);
};

}  // namespace lowdim
