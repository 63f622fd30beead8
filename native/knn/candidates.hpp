// Neighbor lists from candidates: rescoring, refinement in double precision, and best-first graph search.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/search.hpp"

namespace lowdim {

// Best-first search of the neighbor graph for every query, starting from the entries of its list.
inline void graph_search_queries(const SearchRows& queries, const SearchRows& base, GraphSearch graph, const NeighborLists& lists,
                                 const ThreadTeam& team) {
    constexpr std::int64_t block = 64;
    const std::int64_t m = queries.x.rows;
    graph.visited_size = 1;
    while (graph.visited_size < 8 * lists.k * graph.k) graph.visited_size *= 2;
    struct SearchScratch {
        std::vector<std::uint8_t> expanded;
        std::vector<std::int32_t> visited;
    };
    std::vector<SearchScratch> scratch(team.threads);
    for (auto& own : scratch) {
        own.expanded.resize(lists.k);
        own.visited.assign(graph.visited_size, empty_index);
    }
    parallel_ranges(m, block, team, [&](std::int64_t begin, std::int64_t end) {
        SearchScratch& own = scratch[thread_index()];
        for (std::int64_t i = begin; i < end; ++i)
            kernels().knn.graph_search[base.metric](base.x, queries.x.row(i), graph, lists, i, own.expanded.data(), own.visited.data());
    });
}

// The nearest among each row's candidates, in the units of the search; `order` keeps close rows together.
inline void score_candidates(const SearchRows& rows, const std::int32_t* order, const std::int32_t* candidates, std::int64_t width,
                             const NeighborLists& out, const ThreadTeam& team) {
    constexpr std::int64_t block = 64;
    const std::int64_t n = rows.x.rows;
    parallel_ranges(n, block, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
            kernels().knn.score_row[rows.metric](rows.x, order[p], candidates + order[p] * width, width, out);
    });
}

// The k nearest among each row's candidates (or among all rows, without candidates), measured in double precision; `order`, which
// may be null, keeps close rows together.
template <class T>
void refine_candidates(const RowBlock<T>& queries, const RowBlock<T>& base, const std::int32_t* candidates, std::int64_t width,
                       const std::int32_t* self_ids, const std::int32_t* order, const MetricForm<T>& form, const NeighborLists& out,
                       const ThreadTeam& team) {
    const std::int64_t block = candidates == nullptr ? 1 : 64;
    parallel_ranges(queries.rows, block, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
            const std::int64_t i = order == nullptr ? p : order[p];
            const Candidates candidate_rows = {candidates == nullptr ? nullptr : candidates + i * width,
                                               candidates == nullptr ? base.rows : width, self_ids == nullptr ? -1 : self_ids[i]};
            kernels().knn.refine.of<T>()(queries.row(i), base, candidate_rows, form, out, i);
        }
    });
}

}  // namespace lowdim
