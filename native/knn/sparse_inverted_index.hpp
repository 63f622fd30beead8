// An inverted index of sparse rows: the rows of each column, by blocks of rows. Exact search adds up, for one row, what it
// shares with all rows of a block, and keeps the nearest. No sum depends on blocks or threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/round_robin.hpp"
#include "dispatch/kernels.hpp"
#include "knn/search.hpp"

namespace lowdim {

// Rows of an index or queries, with what a distance takes of each.
template <class T>
struct SparseTable {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    std::vector<double> sizes, factors, offsets;

    std::int64_t rows() const { return static_cast<std::int64_t>(starts.size()) - 1; }

    SparseRows<T> view() const {
        return {starts.data(), columns.data(), values.data(), sizes.data(), factors.data(), offsets.data(), rows()};
    }

    // Fills the sizes from the values, factors and offsets.
    void measure(int metric) {
        sizes.assign(rows(), 0);
        for (std::int64_t i = 0; i < rows(); ++i) {
            double sum = 0;
            for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) {
                const double x = static_cast<double>(values[p]);
                sum += metric == metric_manhattan ? std::fabs(x) : x * x;
            }
            sizes[i] = metric == metric_squared_euclidean ? factors[i] * factors[i] * sum - offsets[i] * offsets[i] : sum;
        }
    }
};

template <class T>
class InvertedIndex {
  public:
    // The table must have ascending columns below d in every row; it is kept.
    InvertedIndex(SparseTable<T>&& table, std::int64_t d, const SparseMeasure& measure, const ThreadTeam& team)
        : table_(std::move(table)), columns_(d), measure_(measure) {
        table_.measure(measure.metric);
        const auto stored = static_cast<std::int64_t>(table_.columns.size());
        const std::int64_t n = table_.rows();
        const std::int64_t even = (n / 16 + 63) / 64 * 64;  // enough blocks to share out among threads
        block_rows_ = std::clamp<std::int64_t>(even, 64, 1024);
        while (block_rows_ < 8192 && block_count(n, block_rows_) * d > 2 * stored) block_rows_ *= 2;
        choose_panel(stored);
        blocks_.resize(block_count(n, block_rows_));
        parallel_blocks(static_cast<std::int64_t>(blocks_.size()), team, [&](std::int64_t b) { blocks_[b].fill(*this, b); });
    }

    std::int64_t rows() const { return table_.rows(); }
    std::int64_t columns() const { return columns_; }
    const SparseMeasure& measure() const { return measure_; }
    const SparseTable<T>& table() const { return table_; }

    std::int64_t round_count() const {
        const auto blocks = static_cast<std::int64_t>(blocks_.size());
        return blocks + blocks % 2;
    }

    // One round of all pairs: each block is in one pair, so that no two threads hold the same list.
    void all_pairs_round(std::int64_t round, const NeighborLists& lists, const ThreadTeam& team) const {
        const std::int64_t players = round_count();
        const bool self_round = round == players - 1;
        parallel_blocks(self_round ? players : players / 2, team, [&](std::int64_t pair) {
            const auto [a, b] = self_round ? std::array{pair, pair} : round_robin_pair(players, round, pair);
            const auto count = static_cast<std::int64_t>(blocks_.size());
            if (a >= count || b >= count) return;
            compare_blocks(blocks_[std::min(a, b)], blocks_[std::max(a, b)], lists, team);
        });
    }

    // The nearest rows of every query; the row self_ids[query] is excluded.
    void queries(const SparseTable<T>& asked, const std::int32_t* self_ids, const NeighborLists& lists, const ThreadTeam& team) const {
        const std::int64_t batch = batch_rows();
        parallel_ranges(asked.rows(), batch, team, [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> panel;
            fill_panel(asked, begin, end - begin, panel);
            Scratch scratch(*this);
            for (const Block& block : blocks_) {
                if (stop_polled(team)) return;
                const SparsePair<T> pair = {asked.view(), table_.view(), measure_, block.begin, block.count, false, self_ids, nullptr};
                compare(pair, panel.data(), 0, begin, end, block, scratch, lists);
            }
        });
    }

  private:
    static constexpr double panel_fill = 1.0 / 12;  // a column that is filled better costs less in a dense panel

    struct Block {
        std::vector<std::int32_t> starts;
        std::vector<std::uint16_t> rows;
        std::vector<T> values;
        std::vector<double> panel;
        std::int64_t begin = 0, count = 0;

        void fill(const InvertedIndex& index, std::int64_t number) {
            const SparseTable<T>& x = index.table_;
            begin = number * index.block_rows_;
            count = std::min(index.block_rows_, x.rows() - begin);
            starts.assign(index.columns_ + 1, 0);
            const auto each = [&](const auto& visit) {
                for (std::int64_t i = 0; i < count; ++i)
                    for (std::int64_t p = x.starts[begin + i]; p < x.starts[begin + i + 1]; ++p)
                        if (index.place_[x.columns[p]] < 0) visit(i, x.columns[p], x.values[p]);
            };
            each([&](std::int64_t, std::int32_t column, T) { ++starts[column + 1]; });
            for (std::int64_t c = 0; c < index.columns_; ++c) starts[c + 1] += starts[c];
            rows.resize(starts[index.columns_]);
            values.resize(starts[index.columns_]);
            each([&](std::int64_t i, std::int32_t column, T value) {
                const std::int32_t at = starts[column]++;
                rows[at] = static_cast<std::uint16_t>(i);
                values[at] = value;
            });
            for (std::int64_t c = index.columns_; c > 0; --c) starts[c] = starts[c - 1];  // each had moved to its end
            starts[0] = 0;
            index.fill_panel(x, begin, count, panel);
        }

        ColumnBlock<T> view(const InvertedIndex& index) const {
            return {starts.data(), rows.data(), values.data(), panel.data(), index.panel_columns_, index.columns_, begin, count};
        }
    };

    struct Scratch {
        std::vector<double> sums, keys;
        std::int64_t stride;
        explicit Scratch(const InvertedIndex& index) : stride(index.padded(index.block_rows_)) {
            sums.resize(index.batch_rows() * stride);
            keys.resize(stride);
        }
    };

    // The rows of a batch, whose sums with a block stay in the cache: a multiple of all tiles.
    std::int64_t batch_rows() const { return std::max<std::int64_t>(8, 32 * 1024 / std::max<std::int64_t>(block_rows_, 1024)); }

    // Rows up to whole tiles of panels.
    std::int64_t padded(std::int64_t count) const { return (count + 15) / 16 * 16; }

    // Columns that are kept as dense panels: those filled best, as long as the panels stay within twice the index itself.
    void choose_panel(std::int64_t stored) {
        place_.assign(columns_, -1);
        std::vector<std::int64_t> counts(columns_, 0);
        for (const std::int32_t column : table_.columns) ++counts[column];
        const auto least = static_cast<std::int64_t>(panel_fill * static_cast<double>(rows())) + 1;
        std::vector<std::int32_t> filled;
        for (std::int64_t c = 0; c < columns_; ++c)
            if (counts[c] >= std::max<std::int64_t>(least, 16)) filled.push_back(static_cast<std::int32_t>(c));
        std::stable_sort(filled.begin(), filled.end(), [&](std::int32_t a, std::int32_t b) { return counts[a] > counts[b]; });
        const auto most = static_cast<std::size_t>(2 * stored * (6 + static_cast<std::int64_t>(sizeof(T))) / (8 * std::max<std::int64_t>(rows(), 1)));
        if (filled.size() > most) filled.resize(most);
        std::sort(filled.begin(), filled.end());
        for (std::size_t h = 0; h < filled.size(); ++h) place_[filled[h]] = static_cast<std::int32_t>(h);
        panel_columns_ = static_cast<std::int64_t>(filled.size());
    }

    // The dense columns of some rows, in groups of lanes, column by column; padded with zeros to whole tiles.
    void fill_panel(const SparseTable<T>& x, std::int64_t begin, std::int64_t count, std::vector<double>& panel) const {
        const std::int64_t lanes = kernels().sparse_panels.lanes;
        panel.assign(padded(count) * panel_columns_, 0);
        if (panel_columns_ == 0) return;
        for (std::int64_t i = 0; i < count; ++i) {
            double* row = panel.data() + i / lanes * panel_columns_ * lanes + i % lanes;
            for (std::int64_t p = x.starts[begin + i]; p < x.starts[begin + i + 1]; ++p) {
                const std::int32_t at = x.columns[p] < columns_ ? place_[x.columns[p]] : -1;
                if (at >= 0) row[at * lanes] = static_cast<double>(x.values[p]);
            }
        }
    }

    void compare_blocks(const Block& a, const Block& b, const NeighborLists& lists, const ThreadTeam& team) const {
        Scratch scratch(*this);
        const bool same = &a == &b;  // each pair occurs twice then, and serves one row
        std::vector<double> limits(same ? 0 : b.count);
        for (std::size_t j = 0; j < limits.size(); ++j) {
            const std::int64_t last = (b.begin + static_cast<std::int64_t>(j) + 1) * lists.k - 1;
            limits[j] = kernels().sparse_panels.sum_limit(lists.distances[last], lists.indices[last] > a.begin, measure_);
        }
        const SparseRows<T> rows = table_.view();
        const SparsePair<T> pair = {rows, rows, measure_, b.begin, b.count, same, nullptr, same ? nullptr : limits.data()};
        for (std::int64_t i = a.begin; i < a.begin + a.count && !stop_polled(team); i += batch_rows())
            compare(pair, a.panel.data(), i - a.begin, i, std::min(i + batch_rows(), a.begin + a.count), b, scratch, lists);
    }

    // Queries begin … end, whose panel begins at row `first` of the one given, with all rows of a block.
    void compare(const SparsePair<T>& pair, const double* panel, std::int64_t first, std::int64_t begin, std::int64_t end, const Block& block,
                 Scratch& scratch, const NeighborLists& lists) const {
        const bool products = measure_.metric != metric_manhattan;
        const auto& kernel = kernels().sparse_knn.of<T>();
        const ColumnBlock<T> by_columns = block.view(*this);
        if (panel_columns_ == 0) {
            std::fill(scratch.sums.begin(), scratch.sums.end(), 0.0);
        } else {
            sum_panels(panel, first, end - begin, block, scratch);
        }
        for (std::int64_t i = begin; i < end; ++i) {
            double* sums = scratch.sums.data() + (i - begin) * scratch.stride;
            kernel.add_columns[products ? 0 : 1](pair.queries, i, by_columns, sums);
            kernel.keep_nearer[measure_.metric](pair, i, sums, scratch.keys.data(), lists);
        }
    }

    // The part of the dense columns, some rows of the block at a time, so that their panel stays in the cache.
    void sum_panels(const double* panel, std::int64_t first, std::int64_t count, const Block& block, Scratch& scratch) const {
        const PanelKernels& kernel = kernels().sparse_panels;
        const auto sum = kernel.sum_panels[measure_.metric == metric_manhattan ? 1 : 0];
        const std::int64_t size = padded(block.count);
        for (std::int64_t j = 0; j < size; j += 128) {
            const std::int64_t groups = std::min<std::int64_t>(128, size - j) / kernel.lanes;
            for (std::int64_t i = 0; i < count; i += kernel.tile)
                sum(panel, first + i, block.panel.data() + j * panel_columns_, groups, panel_columns_,
                    scratch.sums.data() + i * scratch.stride + j, scratch.stride);
        }
    }

    SparseTable<T> table_;
    std::int64_t columns_, block_rows_ = 0, panel_columns_ = 0;
    std::vector<std::int32_t> place_;  // of a column in the panels, or -1
    std::vector<Block> blocks_;
    SparseMeasure measure_;
};

}  // namespace lowdim
