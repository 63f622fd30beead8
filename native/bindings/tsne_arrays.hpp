// What the bindings of t-SNE share: embeddings in one to three dimensions and affinity graphs.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "bindings/run.hpp"
#include "core/huge_pages.hpp"
#include "graph/symmetrize.hpp"

using Embedding = Dense<const float>;
using Values = Vector<const float>;

template <class Work>
void for_axes(std::size_t axes, const Work& work) {
    require(axes >= 1 && axes <= 3, "an embedding must have 1, 2 or 3 dimensions");
    if (axes == 1) work.template operator()<1>();
    if (axes == 2) work.template operator()<2>();
    if (axes == 3) work.template operator()<3>();
}

// Affinities that many iterations read. They are copied and then checked, once: nobody can change what was checked.
class AffinityMatrix {
  public:
    AffinityMatrix(const Starts& starts, const Ids& columns, const Values& values, int threads)
        : starts_(starts.data(), starts.data() + starts.size()),
          columns_(columns.data(), columns.data() + columns.size()),
          values_(values.data(), values.data() + values.size()) {
        require(!starts_.empty(), "there must be one more start than rows");
        require(columns_.size() == values_.size(), "not compressed sparse rows: every column needs a value");
        require_span(starts_, starts_.size() - 1, columns_.size());
        require_below(columns_, starts_.size() - 1, threads);
    }

    // New row r is old row order[r]; columns are renumbered to match.
    AffinityMatrix reordered(const Ids& order, int threads) const {
        const std::vector<std::int32_t> rows(order.data(), order.data() + order.size());
        std::vector<bool> seen(starts_.size() - 1);
        require(rows.size() == seen.size(), "the order must contain every row once");
        for (const std::int32_t row : rows) {
            require(row >= 0 && static_cast<std::size_t>(row) < seen.size() && !seen[row], "the order must contain every row once");
            seen[row] = true;
        }
        AffinityMatrix out(starts_.size(), columns_.size());
        run(threads, [&](const lowdim::ThreadTeam& team) {
            lowdim::reorder_graph(view(), static_cast<std::int64_t>(rows.size()), rows.data(), out.starts_.data(), out.columns_.data(),
                                  out.values_.data(), team);
        });
        return out;
    }

    // The affinities of the rows of an embedding.
    lowdim::AffinityGraph of_rows(std::size_t rows) const {
        require(rows + 1 == starts_.size(), "the embedding must have a row for each row of the affinities");
        return view();
    }

    const lowdim::LargeVector<std::int64_t>& starts() const { return starts_; }
    const lowdim::LargeVector<std::int32_t>& columns() const { return columns_; }
    const lowdim::LargeVector<float>& values() const { return values_; }

  private:
    AffinityMatrix(std::size_t starts, std::size_t entries) : starts_(starts), columns_(entries), values_(entries) {}
    lowdim::AffinityGraph view() const { return {starts_.data(), columns_.data(), values_.data()}; }

    lowdim::LargeVector<std::int64_t> starts_;
    lowdim::LargeVector<std::int32_t> columns_;
    lowdim::LargeVector<float> values_;
};

// Checks all but the columns.
inline lowdim::AffinityGraph edges_of(const Starts& starts, const Ids& columns, const Values& values, std::size_t rows) {
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_span(starts, rows, columns.shape(0));
    return {starts.data(), columns.data(), values.data()};
}

inline double in_order(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }
