// Products with compressed sparse rows.
#pragma once

#include <cstdint>

namespace lowdim {

// Compressed sparse rows: row i holds entries starts[i] … starts[i + 1] of `columns` and `values`.
template <class T, class I>
struct SparseBlock {
    const I* starts;
    const I* columns;
    const T* values;
    std::int64_t rows;
};

template <class T, class I>
struct SparseProducts {
    void (*times)(const SparseBlock<T, I>&, const T*, std::int64_t, T*);
    void (*transpose_times)(const SparseBlock<T, I>&, const T*, std::int64_t, double*);
};

struct SparseKernels : SparseProducts<float, std::int32_t>,
                       SparseProducts<double, std::int32_t>,
                       SparseProducts<float, std::int64_t>,
                       SparseProducts<double, std::int64_t> {
    template <class T, class I>
    const SparseProducts<T, I>& of() const {
        return *this;
    }
};

}  // namespace lowdim
