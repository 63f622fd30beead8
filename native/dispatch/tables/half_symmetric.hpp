// Symmetric matrices of which half is stored.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr std::int64_t mirror_width = 16;  // the narrow matrix is padded to a multiple of this many columns

template <class T>
using MirroredTimes = void (*)(const RowBlock<T>&, std::int64_t, const T*, std::int64_t, double*, T*);

struct GramKernels {
    Both<MirroredTimes> mirrored;
};

}  // namespace lowdim
