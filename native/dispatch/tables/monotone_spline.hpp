// Rising curves of a distance.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

// Where the pieces of a curve meet; distances from `low` on are brought to 0 … 1.
struct Bend {
    const double* at;
    std::int64_t breaks;
    double low, inverse_width;
};

template <class T>
struct BendKernels {
    void (*moments)(const Bend&, const T*, const T*, const T*, std::int64_t, double*);
    void (*curve)(const Bend&, const T*, const double*, std::int64_t, T*);
};

}  // namespace lowdim
