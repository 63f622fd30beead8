// What the bind files share. Only they know Python: they check shapes, release the GIL and call the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// One function a family of kernels; bind.cpp calls them all.
void bind_moments(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_random(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_gram(nb::module_& m);
void bind_manifold(nb::module_& m);
void bind_local(nb::module_& m);
void bind_smacof(nb::module_& m);
void bind_bends(nb::module_& m);
void bind_tsne(nb::module_& m);
void bind_umap(nb::module_& m);

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Dense = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T>
lowdim::RowBlock<T> rows_of(const Matrix<T>& x) {
    require(x.shape(1) <= 1 || x.stride(1) == 1, "the values of a row must lie next to each other");
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

// Runs Python's signal handlers; true if one of them raised (Ctrl-C). The error stays set and is
// thrown by rethrow_if_stopped once every thread has come home.
inline bool signals_pending(void*) {
    nb::gil_scoped_acquire hold;
    return PyErr_CheckSignals() != 0;
}

inline void rethrow_if_stopped(const lowdim::Stop& stop) {
    if (stop.requested()) throw nb::python_error();
}
