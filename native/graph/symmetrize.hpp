// Symmetrization of a directed graph: both directions of every edge are combined. Also reorders the rows of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/counting_sort.hpp"
#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

constexpr std::int64_t rows_per_block = 512;

// Both directions of every edge of a directed graph in compressed sparse rows.
template <class Value>
class BidirectionalEdges {
  public:
    // value_of(p) is the value of entry p.
    template <class ValueOf>
    BidirectionalEdges(const std::int64_t* starts, const std::int32_t* columns, std::int64_t n, const ValueOf& value_of,
                       const ThreadTeam& team)
        : n_(n),
          starts_(starts),
          forward_(std::make_unique_for_overwrite<Edge[]>(static_cast<std::size_t>(starts[n]))),
          reverse_(std::make_unique_for_overwrite<Edge[]>(static_cast<std::size_t>(starts[n]))),
          reverse_starts_(static_cast<std::size_t>(n + 1)) {
        parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = starts[begin]; p < starts[end]; ++p) forward_[p] = {columns[p], value_of(p)};
            for (std::int64_t i = begin; i < end; ++i)
                std::sort(forward_.get() + starts[i], forward_.get() + starts[i + 1],
                          [](const Edge& a, const Edge& b) { return a.column < b.column; });
        });
        if (!team.stopped()) transpose(team);
    }

    // Calls visit(column, forward, reverse) for the columns of row i, ascending; a missing direction is Value{}.
    template <class Visit>
    void row(std::int64_t i, const Visit& visit) const {
        const Edge *a = forward_.get() + starts_[i], *a_end = forward_.get() + starts_[i + 1];
        const Edge *b = reverse_.get() + reverse_starts_[i], *b_end = reverse_.get() + reverse_starts_[i + 1];
        while (a != a_end || b != b_end) {
            const bool forward = b == b_end || (a != a_end && a->column <= b->column);
            const bool reverse = a == a_end || (b != b_end && b->column <= a->column);
            visit(forward ? a->column : b->column, forward ? a->value : Value{}, reverse ? b->value : Value{});
            a += forward, b += reverse;
        }
    }

    std::int64_t rows() const { return n_; }

  private:
    struct Edge {
        std::int32_t column;
        Value value;
    };
    static constexpr std::int64_t max_chunks = 8;  // each counts for all rows

    // The transpose by counting sort: chunks of rows are counted and then written one after another, so every reverse list
    // ascends, however many chunks there are.
    void transpose(const ThreadTeam& team) {
        const std::int64_t chunks = std::max<std::int64_t>(1, std::min<std::int64_t>({team.threads, max_chunks, n_}));
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(chunks * n_));
        const auto for_each_edge = [&](const auto& body) {
            parallel_blocks(chunks, team, [&](std::int64_t s) {
                for (std::int64_t i = n_ * s / chunks; i < n_ * (s + 1) / chunks && !team.stopped(); ++i) {
                    if (i % rows_per_block == 0 && thread_index() == 0) team.stop->poll();
                    for (std::int64_t p = starts_[i]; p < starts_[i + 1]; ++p)
                        body(offsets[s * n_ + forward_[p].column], i, forward_[p].value);
                }
            });
        };
        for_each_edge([](std::int64_t& count, std::int64_t, const Value&) { ++count; });
        offsets_from_counts(offsets, reverse_starts_);
        for_each_edge(
            [&](std::int64_t& offset, std::int64_t i, const Value& value) { reverse_[offset++] = {static_cast<std::int32_t>(i), value}; });
    }

    std::int64_t n_;
    const std::int64_t* starts_;
    std::unique_ptr<Edge[]> forward_, reverse_;  // not set to zero first: that would hold up Ctrl-C
    std::vector<std::int64_t> reverse_starts_;
};

// A symmetric graph in compressed sparse rows. combine(forward, reverse, value) makes one value of both directions and says
// whether to keep the edge; reserve(count) is called once, and then write(offset, value) for every entry.
template <class Value, class Combine, class Reserve, class Write>
void symmetrize_rows(const BidirectionalEdges<Value>& edges, std::vector<std::int64_t>& starts, std::vector<std::int32_t>& columns,
                     const ThreadTeam& team, const Combine& combine, const Reserve& reserve, const Write& write) {
    const std::int64_t n = edges.rows();
    if (team.stopped()) return;
    starts.assign(static_cast<std::size_t>(n + 1), 0);
    parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            edges.row(i, [&](std::int32_t, const Value& forward, const Value& reverse) {
                Value value{};
                starts[i + 1] += combine(forward, reverse, value);
            });
    });
    for (std::int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
    team.stop->poll();
    if (team.stopped()) return;
    columns.resize(static_cast<std::size_t>(starts[n]));
    team.stop->poll();
    if (team.stopped()) return;
    reserve(columns.size());
    parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t at = starts[begin];
        for (std::int64_t i = begin; i < end; ++i)
            edges.row(i, [&](std::int32_t column, const Value& forward, const Value& reverse) {
                Value value{};
                if (!combine(forward, reverse, value)) return;
                columns[at] = column;
                write(at++, value);
            });
    });
}

// New row r is old row order[r]; columns are renumbered to match.
inline void reorder_graph(const AffinityGraph& graph, std::int64_t n, const std::int32_t* order, std::int64_t* starts,
                          std::int32_t* columns, float* values, const ThreadTeam& team) {
    std::vector<std::int32_t> new_index(static_cast<std::size_t>(n));
    starts[0] = 0;
    for (std::int64_t r = 0; r < n; ++r) {
        new_index[order[r]] = static_cast<std::int32_t>(r);
        starts[r + 1] = starts[r] + graph.starts[order[r] + 1] - graph.starts[order[r]];
    }
    parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t from = graph.starts[order[r]], count = starts[r + 1] - starts[r];
            for (std::int64_t p = 0; p < count; ++p) columns[starts[r] + p] = new_index[graph.columns[from + p]];
            std::copy(graph.values + from, graph.values + from + count, values + starts[r]);
        }
    });
}

}  // namespace lowdim
