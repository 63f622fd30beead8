// Symmetric matrices of which half is stored.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr std::int64_t half_symmetric_padding = 16;  // the narrow matrix is padded to a multiple of this many columns

template <class T>
using HalfSymmetricTimes = void (*)(const RowBlock<T>&, std::int64_t, const T*, std::int64_t, double*, T*);

struct HalfSymmetricKernels {
    PerPrecision<HalfSymmetricTimes> times;
};

}  // namespace lowdim
