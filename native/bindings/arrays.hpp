// Array types at the Python boundary, and the checks that they pass before a kernel reads them: an index out of range would
// crash the process.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace nb = nanobind;

// An array whose numbers begin at multiples of their size, which compilers take for granted; in a message between processes, or
// behind a header of odd length, they do not. An array that is only read is then copied; one that is written to is refused.
template <class Array>
struct Aligned : Array {
    using Array::Array;
    Aligned() = default;
    explicit Aligned(Array&& array) : Array(std::move(array)) {}
};

namespace nanobind::detail {
template <class Array>
struct type_caster<Aligned<Array>> {
    using Caster = make_caster<Array>;
    NB_TYPE_CASTER(Aligned<Array>, Caster::Name)

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!load(source, flags, cleanup)) return false;
        if (aligned()) return true;
        if constexpr (!std::is_const_v<typename Array::Scalar>) {
            return false;
        } else {
            PyObject* copy = PyObject_CallMethod(source.ptr(), "copy", nullptr);  // NumPy's, which is aligned
            if (copy == nullptr) PyErr_Clear();
            const bool loaded = copy != nullptr && load(copy, flags, cleanup) && aligned();
            Py_XDECREF(copy);  // the array holds it from here on
            return loaded;
        }
    }

   private:
    bool load(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        value = Aligned<Array>(std::move(caster.value));
        return true;
    }

    bool aligned() const { return reinterpret_cast<std::uintptr_t>(value.data()) % alignof(typename Array::Scalar) == 0; }
};
}  // namespace nanobind::detail

template <class... Form>
using Numbers = Aligned<nb::ndarray<Form..., nb::device::cpu>>;
template <class T>
using Matrix = Numbers<const T, nb::ndim<2>>;
template <class T>
using Dense = Numbers<T, nb::ndim<2>, nb::c_contig>;
template <class T>
using Vector = Numbers<T, nb::ndim<1>, nb::c_contig>;
using Ids = Vector<const std::int32_t>;
using Starts = Vector<const std::int64_t>;  // row starts of compressed sparse rows

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// More threads than any machine can use would only exhaust its memory.
inline int team_size(int threads) { return std::clamp(threads, 1, 1024); }

template <class T>
lowdim::RowBlock<T> rows_of(const Matrix<T>& x) {
    require(x.shape(1) <= 1 || x.stride(1) == 1, "the values of a row must be next to each other in memory");
    return {x.data(), static_cast<std::int64_t>(x.shape(0)), static_cast<std::int64_t>(x.shape(1)), x.stride(0)};
}

template <class T>
T* data_or_null(std::optional<Vector<T>>& v, std::size_t length, const char* message) {
    if (!v) return nullptr;
    require(v->shape(0) == length, message);
    return v->data();
}

template <class T>
nb::object array_of(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <class A, class B>
bool same_shape(const A& a, const B& b) {
    if (a.ndim() != b.ndim()) return false;
    for (std::size_t axis = 0; axis < a.ndim(); ++axis)
        if (a.shape(axis) != b.shape(axis)) return false;
    return true;
}

// Whether all values are in 0 … bound - 1 (or mark an empty entry). No early exit, so that the loop vectorizes.
template <class I>
bool all_below(const I* values, std::int64_t count, std::size_t bound, bool or_empty = false) {
    using Unsigned = std::make_unsigned_t<I>;
    constexpr auto most = static_cast<Unsigned>(std::numeric_limits<I>::max());
    const auto limit = static_cast<Unsigned>(std::min<std::uint64_t>(bound, std::uint64_t{most} + 1));  // negative values wrap beyond it
    int beyond = 0;
    if (or_empty) {
        for (std::int64_t i = 0; i < count; ++i) beyond |= (static_cast<Unsigned>(values[i]) >= limit) & (values[i] != lowdim::empty_index);
    } else {
        for (std::int64_t i = 0; i < count; ++i) beyond |= static_cast<Unsigned>(values[i]) >= limit;
    }
    return beyond == 0;
}

template <class Indices>
void require_below(const Indices& indices, std::size_t bound, int threads = 1, const char* message = "an index is out of range",
                   bool or_empty = false) {
    std::atomic<bool> right{true};
    lowdim::Stop never;
    lowdim::parallel_ranges(static_cast<std::int64_t>(indices.size()), 1 << 18, {team_size(threads), &never},
                            [&](std::int64_t begin, std::int64_t end) {
                                if (!all_below(indices.data() + begin, end - begin, bound, or_empty)) right = false;
                            });
    require(right, message);
}

template <class Indices>
void require_below_or_empty(const Indices& indices, std::size_t bound, int threads) {
    require_below(indices, bound, threads, "an index is out of range", true);
}

template <class Starts>
void require_ascending(const Starts& starts, std::size_t rows) {
    require(starts.size() == rows + 1, "not compressed sparse rows: there must be one more start than rows");
    require(std::is_sorted(starts.data(), starts.data() + rows + 1), "the starts of the rows must ascend");
}

// Throws unless these are row starts within the stored entries.
template <class I>
void require_starts(const Vector<const I>& starts, std::size_t rows, std::size_t stored) {
    require_ascending(starts, rows);
    require(starts(0) >= 0 && static_cast<std::size_t>(starts(rows)) <= stored, "the starts of the rows must be within the entries");
}

// Throws unless these are row starts that cover all entries.
template <class Starts>
void require_span(const Starts& starts, std::size_t rows, std::size_t stored) {
    require_ascending(starts, rows);
    require(starts.data()[0] == 0 && static_cast<std::size_t>(starts.data()[rows]) == stored,
            "the starts of the rows must begin with 0 and end with the entries");
}

// Throws unless these are compressed sparse rows with columns in 0 … bound - 1.
inline void require_graph(const Starts& starts, std::size_t rows, const Ids& columns, std::size_t bound, int threads = 1) {
    require_span(starts, rows, columns.shape(0));
    require_below(columns, bound, threads);
}

template <class T, class I>
lowdim::SparseBlock<T, I> sparse_rows(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                                      std::size_t rows, std::size_t d, int threads = 1) {
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_starts(starts, rows, values.shape(0));
    require_below(columns, d, threads, "a column is out of range");
    return {starts.data(), columns.data(), values.data(), static_cast<std::int64_t>(rows)};
}

// The parameters of a metric, checked: an exponent of at least 1, weights of the columns, or the number of columns of sets,
// which rows of bits do not tell.
template <class T>
const T* metric_params(std::optional<Vector<const T>>& params, int metric, std::size_t columns) {
    const bool weighted = metric == lowdim::metric_gower;
    const bool one = metric == lowdim::metric_minkowski || lowdim::compares_bits(metric);
    const T* data = data_or_null(params, weighted ? columns : one ? 1 : 0, "params must have the parameters of the metric");
    require(!weighted || data != nullptr, "this metric needs the weights of the columns");
    require(metric != lowdim::metric_minkowski || (data != nullptr && data[0] >= 1), "the exponent must be at least 1");
    return data;
}
