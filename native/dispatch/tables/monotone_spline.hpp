// Monotone splines of a distance.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

// Knots in 0 … 1; distances are mapped there from `low` by `inverse_width`.
struct MonotoneSpline {
    const double* knots;
    std::int64_t knot_count;
    double low, inverse_width;
};

template <class T>
struct SplineKernels {
    void (*moments)(const MonotoneSpline&, const T*, const T*, const T*, std::int64_t, double*);
    void (*evaluate)(const MonotoneSpline&, const T*, const double*, std::int64_t, T*);
};

}  // namespace lowdim
