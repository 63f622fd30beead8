// Locally linear embedding: batches of small matrices.
#pragma once

#include <cstdint>

#include "dispatch/tables/common.hpp"

namespace lowdim {

constexpr int matrices_per_batch = 8;

template <class T>
using LocalGramKernel = void (*)(const RowBlock<T>&, const T*, const std::int32_t*, std::int64_t, double*, double*);

struct LleKernels {
    PerPrecision<LocalGramKernel> local_gram;
    void (*reconstruction_weights)(const double*, std::int64_t, std::int64_t, double, double*, double*);
    void (*batched_eigh)(const double*, std::int64_t, std::int64_t, double*, double*, double*);
};

}  // namespace lowdim
