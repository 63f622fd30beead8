#include <algorithm>

#include "bindings/run.hpp"
#include "isomap/shortest_paths.hpp"

namespace {

template <class Lengths>
void require_lengths(const Lengths& lengths) {
    int right = 1;
    for (std::size_t e = 0; e < lengths.size(); ++e) right &= lengths.data()[e] >= 0;
    require(right, "a length must not be negative");
}

lowdim::WeightedGraph graph_of(const Starts& starts, const Ids& columns, const Vector<const float>& lengths, int threads = 1) {
    require(columns.shape(0) == lengths.shape(0), "every edge needs a length");
    require(starts.shape(0) >= 1, "there must be one more start than nodes");
    const std::size_t n = starts.shape(0) - 1;
    require_graph(starts, n, columns, n, threads);
    require_lengths(lengths);
    return {starts.data(), columns.data(), lengths.data(), static_cast<std::int64_t>(n)};
}

// Calls body(first, last) for blocks of rows of a matrix with `width` columns.
template <class Body>
void by_rows(std::int64_t rows, std::int64_t width, const lowdim::ThreadTeam& team, const Body& body) {
    const std::int64_t size = std::max<std::int64_t>(4, (1 << 18) / std::max<std::int64_t>(width, 1)) / 4 * 4;
    lowdim::parallel_ranges(rows, size, team, body);
}

void shortest_paths(const Starts& starts, const Ids& columns, const Vector<const float>& lengths, const Ids& node_columns,
                    const Dense<const std::int32_t>& seeds, const Dense<const float>& seed_lengths, const Ids& slots,
                    const Dense<float>& out, int threads) {
    const auto g = graph_of(starts, columns, lengths, threads);
    const auto n = static_cast<std::size_t>(g.n);
    require(node_columns.shape(0) == n, "node_columns must have one entry per node");
    require_below(node_columns, n, threads);
    require(same_shape(seeds, seed_lengths), "every seed needs a length");
    require_below(seeds, n, threads);
    require_lengths(seed_lengths);
    require(slots.shape(0) == seeds.shape(0) && out.shape(1) == n, "out must be (slots, n)");
    require_below(slots, out.shape(0), threads);
    const lowdim::Seeds from = {seeds.data(), seed_lengths.data(), slots.data(), static_cast<std::int64_t>(seeds.shape(0)),
                                static_cast<std::int64_t>(seeds.shape(1))};
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::shortest_paths(g, from, node_columns.data(), out.data(), team); });
}

void locality_order(const Starts& starts, const Ids& columns, const Vector<const float>& lengths, const Vector<std::int32_t>& order) {
    const auto g = graph_of(starts, columns, lengths);
    require(static_cast<std::int64_t>(order.shape(0)) == g.n, "order must have one entry per node");
    nb::gil_scoped_release free;
    lowdim::locality_order(g, lowdim::batch_sources, order.data());
}

void square_distances(const Dense<float>& d, const Vector<double>& means, int threads) {
    require(means.shape(0) == d.shape(0), "means must have one entry per row");
    const auto n = static_cast<std::int64_t>(d.shape(1));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        by_rows(d.shape(0), n, team, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                means.data()[i] = lowdim::kernels().isomap.square_row(d.data() + i * n, n) / static_cast<double>(n);
        });
    });
}

void double_center(const Dense<float>& d, const Vector<const double>& means, double grand, const Vector<double>& squares, int threads) {
    require(d.shape(0) == d.shape(1) && means.shape(0) == d.shape(0) && squares.shape(0) == d.shape(0),
            "squared distances must be square, with one mean and one sum per row");
    const auto n = static_cast<std::int64_t>(d.shape(1));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        by_rows(n, n, team, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                squares.data()[i] = lowdim::kernels().isomap.double_center_row(d.data() + i * n, means.data(), grand - means.data()[i], n);
        });
    });
}

void gram_times(const Dense<const float>& gram, const Dense<const double>& v, const Dense<double>& out, int threads) {
    require(gram.shape(1) == v.shape(0) && out.shape(0) == gram.shape(0) && out.shape(1) == v.shape(1), "the shapes must agree");
    const auto n = static_cast<std::int64_t>(gram.shape(1)), k = static_cast<std::int64_t>(v.shape(1));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        by_rows(gram.shape(0), n, team, [&](std::int64_t first, std::int64_t last) {
            lowdim::kernels().isomap.gram_times(gram.data() + first * n, last - first, n, v.data(), k, out.data() + first * k);
        });
    });
}

void correlation_sums(const Dense<const float>& table, const Vector<const double>& own, const Vector<const double>& other, double factor,
                      const Dense<const double>& points, const Dense<const double>& z, const Dense<double>& out, int threads) {
    const auto n = static_cast<std::int64_t>(table.shape(1)), k = static_cast<std::int64_t>(z.shape(0));
    require(own.shape(0) == table.shape(0) && other.shape(0) == table.shape(1),
            "own and other must have one entry per row and per column of the table");
    require(points.shape(0) == table.shape(0) && points.shape(1) == z.shape(0) && z.shape(1) == table.shape(1),
            "points and z must have the shape of the table");
    require(out.shape(0) == table.shape(0) && out.shape(1) == 2 + 3 * z.shape(0), "out must be (rows, 2 + 3 k)");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        by_rows(table.shape(0), n, team, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                lowdim::kernels().isomap.correlation_sums({table.data() + i * n, own.data()[i], factor, points.data() + i * k},
                                                          other.data(), z.data(), n, k, out.data() + i * (2 + 3 * k));
        });
    });
}

}  // namespace

void bind_isomap(nb::module_& m) {
    m.def("shortest_paths", &shortest_paths, "starts"_a.noconvert(), "columns"_a.noconvert(), "lengths"_a.noconvert(),
          "node_columns"_a.noconvert(), "seeds"_a.noconvert(), "seed_lengths"_a.noconvert(), "slots"_a.noconvert(), "out"_a.noconvert(),
          "threads"_a,
          "Shortest path lengths from every query, given by its distances to some seed nodes, to every node, into row slots[query].");
    m.def("locality_order", &locality_order, "starts"_a.noconvert(), "columns"_a.noconvert(), "lengths"_a.noconvert(),
          "order"_a.noconvert(), "An order of the nodes that keeps neighbors close together.");
    m.def("square_distances", &square_distances, "d"_a.noconvert(), "means"_a.noconvert(), "threads"_a,
          "Square distances in place; `means` receives the mean of each row.");
    m.def("double_center", &double_center, "d"_a.noconvert(), "means"_a.noconvert(), "grand"_a, "squares"_a.noconvert(), "threads"_a,
          "Double centering: squared distances become the centered Gram matrix, in place; `squares` receives the sum of squares of each "
          "row.");
    m.def("gram_times", &gram_times, "gram"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "A float32 matrix times a narrow one, summed in double precision.");
    m.def("correlation_sums", &correlation_sums, "table"_a.noconvert(), "own"_a.noconvert(), "other"_a.noconvert(), "factor"_a,
          "points"_a.noconvert(), "z"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "Sums for the correlation of the distances given by `table` with those of an embedding, by number of components.");
}
