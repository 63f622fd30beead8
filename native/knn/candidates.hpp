// Lists made from candidates, and queries that walk a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/search.hpp"

namespace lowdim {

// Walks the graph towards every query from where its list stands now.
inline void walk_queries(const SearchRows& queries, const SearchRows& base, Walk graph, const NeighborLists& lists,
                         const Crew& crew) {
    constexpr std::int64_t block = 64;
    const std::int64_t m = queries.x.rows;
    graph.seen_size = 1;
    while (graph.seen_size < 8 * lists.k * graph.k) graph.seen_size *= 2;
    struct Memory {
        std::vector<std::uint8_t> asked;
        std::vector<std::int32_t> seen;
    };
    std::vector<Memory> memory(crew.threads);
    for (auto& own : memory) {
        own.asked.resize(lists.k);
        own.seen.assign(graph.seen_size, nobody);
    }
    parallel_ranges(m, block, crew, [&](std::int64_t begin, std::int64_t end) {
        Memory& own = memory[thread_index()];
        for (std::int64_t i = begin; i < end; ++i)
            kernels().neighbors.walk[base.metric](base.x, queries.x.row(i), graph, lists, i, own.asked.data(), own.seen.data());
    });
}

// The nearest among the candidates of every row, in the terms of the search; `order` keeps near rows together.
inline void remeasure_lists(const SearchRows& rows, const std::int32_t* order, const std::int32_t* candidates,
                            std::int64_t width, const NeighborLists& out, const Crew& crew) {
    constexpr std::int64_t block = 64;
    const std::int64_t n = rows.x.rows;
    parallel_ranges(n, block, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
            kernels().neighbors.remeasure[rows.metric](rows.x, order[p], candidates + order[p] * width, width, out);
    });
}

// The k nearest among the candidates of every row (or among all, without candidates), measured in double precision.
template <class T>
void refine_lists(const RowBlock<T>& queries, const RowBlock<T>& base, const std::int32_t* candidates, std::int64_t width,
                  const std::int32_t* selves, const Measure& measure, const NeighborLists& out, const Crew& crew) {
    const std::int64_t block = candidates == nullptr ? 1 : 64;
    parallel_ranges(queries.rows, block, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Candidates among = {candidates == nullptr ? nullptr : candidates + i * width,
                                      candidates == nullptr ? base.rows : width, selves == nullptr ? -1 : selves[i]};
            kernels().neighbors.refine.of<T>()(queries.row(i), base, among, measure, out, i);
        }
    });
}

}  // namespace lowdim
