#include <numeric>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "fuzzy.hpp"
#include "joint.hpp"

namespace {

constexpr std::int64_t rows_to_mark = 256;

void smooth_neighbors(const Dense<const float>& distances, double target, double local_connectivity, const Vector<float>& cores,
                      const Vector<float>& widths, const Dense<float>& weights, int threads) {
    const std::size_t n = distances.shape(0), k = distances.shape(1);
    require(cores.shape(0) == n && widths.shape(0) == n && same_shape(weights, distances), "out must fit");
    const double sum = std::accumulate(distances.data(), distances.data() + n * k, 0.0);
    const double mean = n * k == 0 ? 0.0 : sum / (static_cast<double>(n) * static_cast<double>(k + 1));
    const lowdim::Neighborhoods all = {distances.data(), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k), target,
                                       local_connectivity, mean};
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(all.n, 1024, crew, [&](std::int64_t begin, std::int64_t end) {
            lowdim::smooth_rows(all, begin, end, cores.data(), widths.data(), weights.data());
        });
    });
}

nb::tuple symmetrize(const Starts& starts, const Ids& columns, const Vector<const float>& weights, const Vector<const float>& lengths,
                     double mix, int threads) {
    require(starts.shape(0) >= 1, "starts must have one entry more than there are rows");
    const std::size_t n = starts.shape(0) - 1;
    require_graph(starts, n, columns, n, threads);
    require(same_shape(weights, columns) && same_shape(lengths, columns), "weights and lengths must fit the columns");
    std::vector<std::int64_t> new_starts;
    std::vector<std::int32_t> new_columns;
    std::vector<float> new_weights, new_lengths;
    run(threads, [&](const lowdim::Crew& crew) {
        const auto view_of = [&](std::int64_t p) { return lowdim::Membership{weights.data()[p], lengths.data()[p]}; };
        const lowdim::BothWays<lowdim::Membership> views(starts.data(), columns.data(), static_cast<std::int64_t>(n), view_of, crew);
        lowdim::join_rows(
            views, new_starts, new_columns, crew,
            [&](const lowdim::Membership& own, const lowdim::Membership& back, lowdim::Membership& joined) {
                return lowdim::join_memberships(own, back, mix, joined);
            },
            [&](std::size_t count) { new_weights.resize(count), new_lengths.resize(count); },
            [&](std::int64_t at, const lowdim::Membership& edge) { new_weights[at] = edge.weight, new_lengths[at] = edge.length; });
    });
    return nb::make_tuple(array_of(std::move(new_starts)), array_of(std::move(new_columns)), array_of(std::move(new_weights)),
                          array_of(std::move(new_lengths)));
}

template <class T>
void mark_rows(const Dense<const T>& x, const Vector<std::uint64_t>& out, int threads) {
    require(out.shape(0) == x.shape(0), "out must have one entry a row");
    const auto d = static_cast<std::int64_t>(x.shape(1));
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(x.shape(0)), rows_to_mark, crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) out.data()[i] = lowdim::mark_of(x.data() + i * d, d);
        });
    });
}

template <class T, class I>
void mark_sparse_rows(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                      const Vector<std::uint64_t>& out, int threads) {
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_starts(starts, out.shape(0), values.shape(0));
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(out.shape(0)), rows_to_mark, crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto first = static_cast<std::int64_t>(starts.data()[i]), last = static_cast<std::int64_t>(starts.data()[i + 1]);
                out.data()[i] = lowdim::mark_of(columns.data() + first, values.data() + first, last - first);
            }
        });
    });
}

template <class T, class I>
void bind_sparse_marks(nb::module_& m) {
    m.def("mark_sparse_rows", &mark_sparse_rows<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "The marks that these compressed rows would have as dense ones.");
}

}  // namespace

void bind_fuzzy(nb::module_& m) {
    m.def("smooth_neighbors", &smooth_neighbors, "distances"_a.noconvert(), "target"_a, "local_connectivity"_a, "cores"_a.noconvert(),
          "widths"_a.noconvert(), "weights"_a.noconvert(), "threads"_a, "How much each neighbour belongs to a row, and the scales of that.");
    m.def("symmetrize", &symmetrize, "starts"_a.noconvert(), "columns"_a.noconvert(), "weights"_a.noconvert(), "lengths"_a.noconvert(), "mix"_a,
          "threads"_a, "A fuzzy graph and its transpose as one: starts, columns, weights and lengths.");
    m.def("mark_rows", &mark_rows<float>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit mark of every row's values.");
    m.def("mark_rows", &mark_rows<double>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit mark of every row's values.");
    bind_sparse_marks<float, std::int32_t>(m);
    bind_sparse_marks<double, std::int32_t>(m);
    bind_sparse_marks<float, std::int64_t>(m);
    bind_sparse_marks<double, std::int64_t>(m);
}
