#include <utility>

#include "bindings/run.hpp"
#include "knn/candidates.hpp"
#include "knn/nn_descent.hpp"
#include "knn/search.hpp"

namespace {

using Rows32 = Matrix<float>;

constexpr std::int64_t most_reverse = 4096;  // a local join compares all pairs of what it joins

lowdim::NeighborLists lists_of(const Dense<float>& distances, const Dense<std::int32_t>& indices, std::size_t rows) {
    require(distances.shape(0) == rows && indices.shape(0) == rows, "the lists must have one row per row of the data");
    require(distances.shape(1) == indices.shape(1) && distances.shape(1) >= 1, "the lists must have the same width, at least 1");
    return {distances.data(), indices.data(), static_cast<std::int64_t>(distances.shape(1))};
}

using Params = std::optional<Vector<const float>>;

lowdim::SearchRows search_rows(const Rows32& x, std::optional<Vector<const float>>& shift, int metric, Params& params) {
    require(metric >= 0 && metric < lowdim::metric_count, "there is no such metric");
    require(x.shape(0) < static_cast<std::size_t>(lowdim::empty_index), "there are too many rows for 32-bit indices");
    require(!lowdim::compares_bits(metric) || x.shape(1) % 2 == 0, "rows of bits must be whole words");
    require(metric <= lowdim::metric_dice || metric > lowdim::metric_yule || params.has_value(), "params must have the number of columns");
    const float* shift_data = data_or_null(shift, x.shape(1), "shift must have one entry per column");
    return {{rows_of(x), metric_params(params, metric, x.shape(1))}, shift_data, metric};
}

lowdim::RowGroups groups_of(const Ids& order, const Starts& offsets, std::size_t rows, int threads) {
    require(offsets.shape(0) >= 1, "offsets must not be empty");
    const std::size_t count = offsets.shape(0) - 1;
    require_span(offsets, count, order.shape(0));
    require_below(order, rows, threads);
    return {order.data(), offsets.data(), static_cast<std::int64_t>(count)};
}

void all_pairs_round(const Rows32& x, std::optional<Vector<const float>> shift, int metric, std::int64_t round,
                     const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads, Params params) {
    const auto rows = search_rows(x, shift, metric, params);
    const auto lists = lists_of(distances, indices, x.shape(0));
    require(round >= 0 && round < lowdim::all_pairs_round_count(rows.x.rows, rows.x.columns, lists.k), "there is no such round");
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::all_pairs_round(rows, round, lists, team); });
}

void exact_queries(const Rows32& queries, std::optional<Ids> self_ids, const Rows32& base, std::optional<Vector<const float>> shift,
                   int metric, const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads, Params params) {
    require(queries.shape(1) == base.shape(1), "queries and base must have the same columns");
    const auto query_rows = search_rows(queries, shift, metric, params), base_rows = search_rows(base, shift, metric, params);
    const auto* self_data = data_or_null(self_ids, queries.shape(0), "self_ids must have one entry per query");
    const auto lists = lists_of(distances, indices, queries.shape(0));
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::exact_queries(query_rows, self_data, base_rows, lists, team); });
}

void probe_cells(const Rows32& queries, const Ids& query_rows, const Starts& query_offsets, const Rows32& base, const Ids& members,
                 const Starts& member_offsets, bool same_rows, std::optional<Vector<const float>> shift, int metric,
                 const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads, Params params) {
    require(queries.shape(1) == base.shape(1), "queries and base must have the same columns");
    require(query_offsets.shape(0) == member_offsets.shape(0), "queries and members must have the same cells");
    const auto from = search_rows(queries, shift, metric, params), to = search_rows(base, shift, metric, params);
    const auto self_data = groups_of(query_rows, query_offsets, queries.shape(0), threads);
    const auto cell_members = groups_of(members, member_offsets, base.shape(0), threads);
    const auto lists = lists_of(distances, indices, queries.shape(0));
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::probe_cells(from, self_data, to, cell_members, same_rows, lists, team); });
}

std::int64_t nn_descent_round(const Rows32& x, const Ids& order, int metric, const Dense<float>& distances,
                              const Dense<std::int32_t>& indices, const Dense<std::uint8_t>& is_new, std::uint64_t seed,
                              std::uint64_t round, std::int64_t forward, std::int64_t reverse, int threads, Params params) {
    std::optional<Vector<const float>> unshifted;
    const auto rows = search_rows(x, unshifted, metric, params);
    const auto lists = lists_of(distances, indices, x.shape(0));
    require(same_shape(is_new, distances), "is_new must have the shape of the lists");
    require(order.shape(0) == x.shape(0), "order must have every row");
    require(forward >= 1 && reverse >= 0 && reverse <= most_reverse, "forward must be at least 1, and reverse from 0 to 4096");
    require_below(order, x.shape(0), threads);
    require_below_or_empty(indices, x.shape(0), threads);
    std::int64_t changed = 0;
    run(threads, [&](const lowdim::ThreadTeam& team) {
        changed = lowdim::nn_descent_round(rows, order.data(), lists, is_new.data(), {seed, round, forward, reverse}, team);
    });
    return changed;
}

void graph_search_queries(const Rows32& queries, const Rows32& base, const Dense<const std::int32_t>& graph, int metric,
                          const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads, Params params) {
    std::optional<Vector<const float>> unshifted;
    const auto query_rows = search_rows(queries, unshifted, metric, params), base_rows = search_rows(base, unshifted, metric, params);
    require(queries.shape(1) == base.shape(1) && graph.shape(0) == base.shape(0), "queries, base and graph must have matching shapes");
    require(graph.shape(1) >= 1, "the graph must have neighbors");
    require_below(graph, base.shape(0), threads);
    const auto lists = lists_of(distances, indices, queries.shape(0));
    require_below_or_empty(indices, base.shape(0), threads);
    const lowdim::GraphSearch search = {graph.data(), static_cast<std::int64_t>(graph.shape(1)), 0};
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::graph_search_queries(query_rows, base_rows, search, lists, team); });
}

template <class T>
void refine_candidates(const Matrix<T>& queries, const Matrix<T>& base, std::optional<Dense<const std::int32_t>> candidates,
                       std::optional<Ids> self_ids, int metric, int root, double scale, const Dense<float>& distances,
                       const Dense<std::int32_t>& indices, int threads, std::optional<Vector<const T>> params, std::optional<Ids> order) {
    require(queries.shape(1) == base.shape(1), "queries and base must have the same columns");
    require(metric >= 0 && metric < lowdim::metric_count && !lowdim::compares_bits(metric), "rows of bits are exact already");
    require(base.shape(0) < static_cast<std::size_t>(lowdim::empty_index), "there are too many rows for 32-bit indices");
    const lowdim::MetricForm<T> form = {metric, root, scale, metric_params(params, metric, base.shape(1))};
    const auto query_rows = rows_of(queries), base_rows = rows_of(base);
    const auto* self_data = data_or_null(self_ids, queries.shape(0), "self_ids must have one entry per query");
    const auto* order_data = data_or_null(order, queries.shape(0), "order must have one entry per query");
    if (order) require_below(*order, queries.shape(0), threads);
    const std::int32_t* candidate_data = nullptr;
    std::int64_t width = 0;
    if (candidates) {
        require(candidates->shape(0) == queries.shape(0), "candidates must have one row per query");
        require_below_or_empty(*candidates, base.shape(0), threads);
        candidate_data = candidates->data();
        width = static_cast<std::int64_t>(candidates->shape(1));
    }
    const auto lists = lists_of(distances, indices, queries.shape(0));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::refine_candidates<T>(query_rows, base_rows, candidate_data, width, self_data, order_data, form, lists, team);
    });
}

void score_candidates(const Rows32& x, const Ids& order, const Dense<const std::int32_t>& candidates, int metric,
                      const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads, Params params) {
    std::optional<Vector<const float>> unshifted;
    const auto rows = search_rows(x, unshifted, metric, params);
    const auto lists = lists_of(distances, indices, x.shape(0));
    require(!lowdim::compares_bits(metric), "rows of bits are exact already");
    require(order.shape(0) == x.shape(0) && candidates.shape(0) == x.shape(0), "order and candidates must have every row");
    require_below(order, x.shape(0), threads);
    require_below_or_empty(candidates, x.shape(0), threads);
    const auto width = static_cast<std::int64_t>(candidates.shape(1));
    run(threads,
        [&](const lowdim::ThreadTeam& team) { lowdim::score_candidates(rows, order.data(), candidates.data(), width, lists, team); });
}

void select_nearest(const Rows32& block, std::optional<Ids> self_ids, std::int32_t first, const Dense<float>& distances,
                    const Dense<std::int32_t>& indices) {
    const auto rows = rows_of(block);
    const auto* self_data = data_or_null(self_ids, block.shape(0), "self_ids must have one entry per row");
    const auto lists = lists_of(distances, indices, block.shape(0));
    nb::gil_scoped_release free;
    lowdim::kernels().knn.select_nearest(rows, self_data, first, lists);
}

}  // namespace

void bind_knn(nb::module_& m) {
    m.def("all_pairs_round_count", &lowdim::all_pairs_round_count, "n"_a, "d"_a, "k"_a,
          "The number of rounds that compare all pairs of n rows, for lists of k.");
    m.def(
        "round_robin_pair",
        [](std::int64_t players, std::int64_t round, std::int64_t pair) {
            require(players >= 2 && players % 2 == 0 && round >= 0 && round < players - 1, "there is no such round");
            require(pair >= 0 && pair < players / 2, "there is no such pair");
            const auto blocks = lowdim::round_robin_pair(players, round, pair);
            return std::pair<std::int64_t, std::int64_t>(blocks[0], blocks[1]);
        },
        "players"_a, "round"_a, "pair"_a, "The two blocks of a pair, by the circle method.");
    m.def("all_pairs_round", &all_pairs_round, "x"_a.noconvert(), "shift"_a.none(), "metric"_a, "round"_a, "distances"_a.noconvert(),
          "indices"_a.noconvert(), "threads"_a, "params"_a.none() = nb::none(), "One round of exact all-pairs search, into the lists.");
    m.def("exact_queries", &exact_queries, "queries"_a.noconvert(), "self_ids"_a.none(), "base"_a.noconvert(), "shift"_a.none(), "metric"_a,
          "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(),
          "Exact search: the nearest base rows of every query, into the lists; the base row self_ids[query] is excluded.");
    m.def("probe_cells", &probe_cells, "queries"_a.noconvert(), "query_rows"_a.noconvert(), "query_offsets"_a.noconvert(),
          "base"_a.noconvert(), "members"_a.noconvert(), "member_offsets"_a.noconvert(), "same_rows"_a, "shift"_a.none(), "metric"_a,
          "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(),
          "Inverted-file search: the nearest members of a cell to the queries of that cell, into the lists.");
    m.def("nn_descent_round", &nn_descent_round, "x"_a.noconvert(), "order"_a.noconvert(), "metric"_a, "distances"_a.noconvert(),
          "indices"_a.noconvert(), "is_new"_a.noconvert(), "seed"_a, "round"_a, "forward"_a, "reverse"_a, "threads"_a,
          "params"_a.none() = nb::none(),
          "One round of NN-descent; returns the number of list entries that changed.");
    m.def("graph_search_queries", &graph_search_queries, "queries"_a.noconvert(), "base"_a.noconvert(), "graph"_a.noconvert(), "metric"_a,
          "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(),
          "Best-first graph search for every query, starting from the entries of its list.");
    m.def("refine_candidates", &refine_candidates<float>, "queries"_a.noconvert(), "base"_a.noconvert(), "candidates"_a.none(),
          "self_ids"_a.none(), "metric"_a, "root"_a, "scale"_a, "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(), "order"_a.none() = nb::none(),
          "The nearest among the candidates (or all rows), measured in double precision, into the lists.");
    m.def("refine_candidates", &refine_candidates<double>, "queries"_a.noconvert(), "base"_a.noconvert(), "candidates"_a.none(),
          "self_ids"_a.none(), "metric"_a, "root"_a, "scale"_a, "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(), "order"_a.none() = nb::none());
    m.def("score_candidates", &score_candidates, "x"_a.noconvert(), "order"_a.noconvert(), "candidates"_a.noconvert(), "metric"_a,
          "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
          "params"_a.none() = nb::none(),
          "The nearest among the candidates of every row, as sums over columns in float32, into the lists.");
    m.def("select_nearest", &select_nearest, "block"_a.noconvert(), "self_ids"_a.none(), "first"_a, "distances"_a.noconvert(),
          "indices"_a.noconvert(),
          "The k smallest of each row of given distances, into the lists; `first` is the index of the first column.");
}
