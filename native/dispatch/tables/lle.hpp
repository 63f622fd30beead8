// Local patches (the LLE family).
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr int local_matrices_together = 8;

template <class T>
using LocalGram = void (*)(const RowBlock<T>&, const T*, const std::int32_t*, std::int64_t, double*, double*);

struct LocalKernels {
    Both<LocalGram> gram;
    void (*weights)(const double*, std::int64_t, std::int64_t, double, double*, double*);
    void (*eigen)(const double*, std::int64_t, std::int64_t, double*, double*, double*);
};

}  // namespace lowdim
