// Types that the tables of several families share.
#pragma once

#include <cstdint>

namespace lowdim {

// Rows of contiguous values; consecutive rows are `stride` values apart.
template <class T>
struct RowBlock {
    const T* data;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t stride;
    const T* row(std::int64_t i) const { return data + i * stride; }
};

// A type instantiated for both precisions.
template <template <class> class Of>
struct PerPrecision {
    Of<float> single_precision;
    Of<double> double_precision;

    template <class T>
    const Of<T>& of() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return single_precision;
        } else {
            return double_precision;
        }
    }
};

}  // namespace lowdim
