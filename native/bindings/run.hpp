// What all bindings share. Only they know Python: they check arrays, release the GIL and call the kernels.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"

using namespace nb::literals;

// One function per family of kernels; module.cpp calls them all.
void bind_core(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_knn(nb::module_& m);
void bind_sparse_knn(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_mds(nb::module_& m);
void bind_mds_disparities(nb::module_& m);
void bind_ica(nb::module_& m);
void bind_isomap(nb::module_& m);
void bind_lle(nb::module_& m);
void bind_tsne(nb::module_& m);
void bind_tsne_repulsion(nb::module_& m);
void bind_umap(nb::module_& m);
void bind_subspace(nb::module_& m);
void bind_select(nb::module_& m);
void bind_quality(nb::module_& m);

// Runs Python's signal handlers; true if one of them raised (Ctrl-C). The error stays set, and `run` throws it once every
// thread has returned.
inline bool signals_pending(void*) {
    nb::gil_scoped_acquire hold;
    return PyErr_CheckSignals() != 0;
}

// Calls work(team) with the GIL released, polling for Ctrl-C; then raises the pending error.
template <class Work>
void run(int threads, const Work& work) {
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        work(lowdim::ThreadTeam{team_size(threads), &stop});
    }
    if (stop.requested()) throw nb::python_error();
}
