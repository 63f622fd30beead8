// Graphs whose edges two rows see: both views made one symmetric graph, and rows put in another order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/counting_sort.hpp"
#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

constexpr std::int64_t rows_a_block = 512;

// Both views of every edge of a directed graph in compressed rows: what a row says of another, and the other of it.
template <class Value>
class BothWays {
  public:
    // value_of(p) is the value of entry p.
    template <class ValueOf>
    BothWays(const std::int64_t* starts, const std::int32_t* columns, std::int64_t n, const ValueOf& value_of, const Crew& crew)
        : n_(n), starts_(starts), own_(static_cast<std::size_t>(starts[n])), back_(own_.size()), back_starts_(static_cast<std::size_t>(n + 1)) {
        parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = starts[begin]; p < starts[end]; ++p) own_[p] = {columns[p], value_of(p)};
            for (std::int64_t i = begin; i < end; ++i)
                std::sort(own_.begin() + starts[i], own_.begin() + starts[i + 1],
                          [](const Arrow& a, const Arrow& b) { return a.column < b.column; });
        });
        if (!crew.stopped()) turn(crew);
    }

    // visit(column, own, back) for the columns of row i, ascending; a view that is missing is Value{}.
    template <class Visit>
    void row(std::int64_t i, const Visit& visit) const {
        const Arrow *a = own_.data() + starts_[i], *a_end = own_.data() + starts_[i + 1];
        const Arrow *b = back_.data() + back_starts_[i], *b_end = back_.data() + back_starts_[i + 1];
        while (a != a_end || b != b_end) {
            const bool own = b == b_end || (a != a_end && a->column <= b->column);
            const bool back = a == a_end || (b != b_end && b->column <= a->column);
            visit(own ? a->column : b->column, own ? a->value : Value{}, back ? b->value : Value{});
            a += own, b += back;
        }
    }

    std::int64_t rows() const { return n_; }

  private:
    struct Arrow {
        std::int32_t column;
        Value value;
    };
    static constexpr std::int64_t most_stretches = 8;  // each counts for all rows

    // The transpose: stretches of rows are counted and then written one after another, so every list of those who name
    // a row ascends, however many stretches there are.
    void turn(const Crew& crew) {
        const std::int64_t stretches = std::max<std::int64_t>(1, std::min<std::int64_t>({crew.threads, most_stretches, n_}));
        std::vector<std::int64_t> places(static_cast<std::size_t>(stretches * n_));
        const auto over_arrows = [&](const auto& body) {
            parallel_blocks(stretches, crew, [&](std::int64_t s) {
                for (std::int64_t i = n_ * s / stretches; i < n_ * (s + 1) / stretches && !crew.stopped(); ++i) {
                    if (i % rows_a_block == 0 && thread_index() == 0) crew.stop->poll();
                    for (std::int64_t p = starts_[i]; p < starts_[i + 1]; ++p) body(places[s * n_ + own_[p].column], i, own_[p].value);
                }
            });
        };
        over_arrows([](std::int64_t& count, std::int64_t, const Value&) { ++count; });
        places_from_counts(places, back_starts_);
        over_arrows([&](std::int64_t& place, std::int64_t i, const Value& value) { back_[place++] = {static_cast<std::int32_t>(i), value}; });
    }

    std::int64_t n_;
    const std::int64_t* starts_;
    std::vector<Arrow> own_, back_;
    std::vector<std::int64_t> back_starts_;
};

// A symmetric graph in compressed rows. join(own, back, value) makes one value of both views and says whether it stays;
// room(count) is called once, and then write(place, value) for every entry.
template <class Value, class Join, class Room, class Write>
void join_rows(const BothWays<Value>& views, std::vector<std::int64_t>& starts, std::vector<std::int32_t>& columns, const Crew& crew,
               const Join& join, const Room& room, const Write& write) {
    const std::int64_t n = views.rows();
    if (crew.stopped()) return;
    starts.assign(static_cast<std::size_t>(n + 1), 0);
    parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            views.row(i, [&](std::int32_t, const Value& own, const Value& back) {
                Value value{};
                starts[i + 1] += join(own, back, value);
            });
    });
    for (std::int64_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
    columns.resize(static_cast<std::size_t>(starts[n]));
    room(columns.size());
    parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t at = starts[begin];
        for (std::int64_t i = begin; i < end; ++i)
            views.row(i, [&](std::int32_t column, const Value& own, const Value& back) {
                Value value{};
                if (!join(own, back, value)) return;
                columns[at] = column;
                write(at++, value);
            });
    });
}

// New row r is old row order[r]; columns are renamed to match.
inline void reorder_edges(const MapEdges& edges, std::int64_t n, const std::int32_t* order, std::int64_t* starts,
                          std::int32_t* columns, float* values, const Crew& crew) {
    std::vector<std::int32_t> names(static_cast<std::size_t>(n));
    starts[0] = 0;
    for (std::int64_t r = 0; r < n; ++r) {
        names[order[r]] = static_cast<std::int32_t>(r);
        starts[r + 1] = starts[r] + edges.starts[order[r] + 1] - edges.starts[order[r]];
    }
    parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int64_t from = edges.starts[order[r]], count = starts[r + 1] - starts[r];
            for (std::int64_t p = 0; p < count; ++p) columns[starts[r] + p] = names[edges.columns[from + p]];
            std::copy(edges.values + from, edges.values + from + count, values + starts[r]);
        }
    });
}

}  // namespace lowdim
