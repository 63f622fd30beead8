// The table of kernels that exist once for every instruction set.
#pragma once

#include <cstdint>

namespace lowdim {

// Rows of contiguous values, `stride` values from one row to the next.
template <class T>
struct RowBlock {
    const T* data;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t stride;
    const T* row(std::int64_t i) const { return data + i * stride; }
};

template <class T>
struct MomentKernels {
    bool (*column_sums)(const RowBlock<T>&, const std::int32_t*, const double*, double*, std::int64_t);
    bool (*center)(const RowBlock<T>&, const std::int32_t*, const double*, const double*, const double*, T*);
    bool (*shift_rows)(const RowBlock<T>&, const T*, T*, double*);
    void (*subtract_outer)(T*, const double*, double, std::int64_t);
    void (*add_scatter)(double*, const T*, const double*, std::int64_t, std::int64_t);
};

// Compressed sparse rows; `columns` and `values` hold the entries starts[i] … starts[i + 1] of row i.
template <class T, class I>
struct SparseBlock {
    const I* starts;
    const I* columns;
    const T* values;
    std::int64_t rows;
};

template <class T, class I>
struct SparseKernels {
    void (*times)(const SparseBlock<T, I>&, const T*, std::int64_t, T*);
    void (*transpose_times)(const SparseBlock<T, I>&, const T*, std::int64_t, double*);
};

struct Kernels {
    const char* name;
    MomentKernels<float> moments32;
    MomentKernels<double> moments64;

    SparseKernels<float, std::int32_t> sparse32;
    SparseKernels<double, std::int32_t> sparse64;
    SparseKernels<float, std::int64_t> sparse32_long;
    SparseKernels<double, std::int64_t> sparse64_long;

    template <class T>
    const MomentKernels<T>& moments() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return moments32;
        } else {
            return moments64;
        }
    }

    template <class T, class I>
    const SparseKernels<T, I>& sparse() const {
        if constexpr (sizeof(I) == 4 && sizeof(T) == 4) {
            return sparse32;
        } else if constexpr (sizeof(I) == 4) {
            return sparse64;
        } else if constexpr (sizeof(T) == 4) {
            return sparse32_long;
        } else {
            return sparse64_long;
        }
    }
};

// The best table that this processor can run, or the one that LOWDIM_ISA names.
const Kernels& kernels();

}  // namespace lowdim
