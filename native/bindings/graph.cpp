#include <utility>
#include <vector>

#include "bindings/tsne_arrays.hpp"
#include "graph/symmetrize.hpp"
#include "umap/memberships.hpp"

namespace {

nb::tuple symmetrize_memberships(const Starts& starts, const Ids& columns, const Vector<const float>& weights,
                                 const Vector<const float>& lengths, double set_op_mix_ratio, int threads) {
    require(starts.shape(0) >= 1, "there must be one more start than rows");
    const std::size_t n = starts.shape(0) - 1;
    require_graph(starts, n, columns, n, threads);
    require(same_shape(weights, columns) && same_shape(lengths, columns), "weights and lengths must have one entry per column index");
    std::vector<std::int64_t> new_starts;
    std::vector<std::int32_t> new_columns;
    std::vector<float> new_weights, new_lengths;
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const auto view_of = [&](std::int64_t p) { return lowdim::Membership{weights.data()[p], lengths.data()[p]}; };
        const lowdim::BidirectionalEdges<lowdim::Membership> edges(starts.data(), columns.data(), static_cast<std::int64_t>(n), view_of,
                                                                   team);
        lowdim::symmetrize_rows(
            edges, new_starts, new_columns, team,
            [&](const lowdim::Membership& forward, const lowdim::Membership& reverse, lowdim::Membership& combined) {
                return lowdim::fuzzy_set_operation(forward, reverse, set_op_mix_ratio, combined);
            },
            [&](std::size_t count) { new_weights.resize(count), new_lengths.resize(count); },
            [&](std::int64_t at, const lowdim::Membership& edge) { new_weights[at] = edge.weight, new_lengths[at] = edge.length; });
    });
    return nb::make_tuple(array_of(std::move(new_starts)), array_of(std::move(new_columns)), array_of(std::move(new_weights)),
                          array_of(std::move(new_lengths)));
}

nb::tuple symmetrize_affinities(const Dense<const std::int32_t>& indices, const Dense<const float>& weights, double scale, int threads) {
    require(same_shape(indices, weights), "indices and weights must have the same shape");
    const auto n = static_cast<std::int64_t>(indices.shape(0)), k = static_cast<std::int64_t>(indices.shape(1));
    require_below(indices, indices.shape(0), threads);
    std::vector<std::int64_t> forward(static_cast<std::size_t>(n + 1)), starts;
    for (std::int64_t i = 0; i <= n; ++i) forward[i] = i * k;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const auto weight_of = [&](std::int64_t p) { return weights.data()[p]; };
        const lowdim::BidirectionalEdges<float> edges(forward.data(), indices.data(), n, weight_of, team);
        lowdim::symmetrize_rows(
            edges, starts, columns, team, [](float a, float b, float& sum) { return sum = a + b, true; },
            [&](std::size_t count) { values.resize(count); },
            [&](std::int64_t at, float sum) { values[at] = static_cast<float>(scale * static_cast<double>(sum)); });
    });
    return nb::make_tuple(array_of(std::move(starts)), array_of(std::move(columns)), array_of(std::move(values)));
}

// A read-only view of what an object owns, which it keeps alive.
template <class T>
nb::object view_of(nb::handle owner, const lowdim::LargeVector<T>& values) {
    return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner));
}

void bind_affinity_matrix(nb::module_& m) {
    nb::class_<AffinityMatrix>(m, "AffinityMatrix", "A private copy of affinities in compressed sparse rows, checked once.")
        .def(nb::init<const Starts&, const Ids&, const Values&, int>(), "starts"_a.noconvert(), "columns"_a.noconvert(),
             "values"_a.noconvert(), "threads"_a)
        .def("reordered", &AffinityMatrix::reordered, "order"_a.noconvert(), "threads"_a,
             "Rows and columns in another order: new row r is old row order[r].")
        .def_prop_ro(
            "starts", [](nb::handle self) { return view_of(self, nb::cast<const AffinityMatrix&>(self).starts()); },
            nb::sig("def starts(self) -> NDArray[numpy.int64]"))
        .def_prop_ro(
            "columns", [](nb::handle self) { return view_of(self, nb::cast<const AffinityMatrix&>(self).columns()); },
            nb::sig("def columns(self) -> NDArray[numpy.int32]"))
        .def_prop_ro(
            "values", [](nb::handle self) { return view_of(self, nb::cast<const AffinityMatrix&>(self).values()); },
            nb::sig("def values(self) -> NDArray[numpy.float32]"));
}

}  // namespace

void bind_graph(nb::module_& m) {
    m.def("symmetrize_memberships", &symmetrize_memberships, "starts"_a.noconvert(), "columns"_a.noconvert(), "weights"_a.noconvert(),
          "lengths"_a.noconvert(), "set_op_mix_ratio"_a, "threads"_a,
          "The fuzzy union (or intersection) of a graph and its transpose: starts, columns, weights and lengths.");
    m.def("symmetrize_affinities", &symmetrize_affinities, "indices"_a.noconvert(), "weights"_a.noconvert(), "scale"_a, "threads"_a,
          "scale (A + A.T) in compressed sparse rows, for A with `weights` at `indices`.");
    bind_affinity_matrix(m);
}
