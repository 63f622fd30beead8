// Products with symmetric matrices of which only the lower half is stored.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr std::int64_t half_symmetric_padding = 16;  // the number of columns of the narrow matrix is a multiple of this

template <class T>
using HalfSymmetricTimes = void (*)(const RowBlock<T>&, std::int64_t, const T*, std::int64_t, double*, T*);

template <class T>
using RowProducts = void (*)(const RowBlock<T>&, const T*, std::int64_t, std::int64_t, double*);

struct HalfSymmetricKernels {
    PerPrecision<HalfSymmetricTimes> times;
    PerPrecision<RowProducts> row_products;  // of rows with a narrow matrix
};

}  // namespace lowdim
