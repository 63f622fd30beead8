// Nearest-neighbor search: all pairs, exact queries, and cells of an inverted file. Work is split into blocks that do not
// depend on the number of threads, and a block writes only to the lists of the rows that it owns.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "core/philox.hpp"
#include "core/round_robin.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

struct SearchRows {
    MetricRows x;
    const float* shift;  // subtracted from every row before products are formed, against cancellation in float32; may be null
    int metric;
};

// The largest block of rows with d columns and lists of k: a multiple of every tile, small enough for the cache, and with long
// lists, whose updates take most of the time, so small that a pair of blocks takes some milliseconds (Ctrl-C waits for it).
inline std::int64_t block_rows(std::int64_t d, std::int64_t k) {
    const std::int64_t fitting = (std::int64_t{4} << 20) / (4 * std::max<std::int64_t>(d, 1));
    const std::int64_t prompt = (std::int64_t{1} << 16) / std::max<std::int64_t>(k, 1);
    return std::clamp<std::int64_t>(std::min(fitting, prompt) / 96 * 96, 96, 960);
}

// The same for these rows: small where a pair takes long, for Ctrl-C.
inline std::int64_t block_rows(const SearchRows& rows, std::int64_t k) {
    return in_tiles(rows.metric) || compares_bits(rows.metric) ? block_rows(rows.x.columns, k) : 96;
}

// A packed block whose memory is reused for the next one.
class PackedBlock {
  public:
    // Packs rows `which` of x, or begin … begin + rows if `which` is null.
    void load(const SearchRows& from, const std::int32_t* which, std::int64_t begin, std::int64_t rows) {
        const std::int64_t d = from.x.columns, tile = kernels().knn.tile;
        const std::int64_t padded = (rows + tile - 1) / tile * tile;
        rows_ = rows;
        reserve(padded * d, padded);
        RowBlock<float> x = from.x;
        x.rows = rows;
        if (which == nullptr) x.data += begin * x.stride;
        params_ = from.x.params;
        if (!in_tiles(from.metric)) {
            for (std::int64_t i = 0; i < rows; ++i) {
                const float* row = x.row(which == nullptr ? i : which[i]);
                std::copy(row, row + d, values_.get() + i * d);
            }
        } else {
            kernels().knn.pack_rows(x, which, from.shift, values_.get(), norms_.get());
        }
        std::fill(limits_.get(), limits_.get() + padded, -1.0f);
        for (std::int64_t i = 0; i < rows; ++i) ids_[i] = which == nullptr ? static_cast<std::int32_t>(begin + i) : which[i];
        has_lists_ = false;
    }

    // Gives the rows lists: at their own ids, or at `first`, `first + 1`, …
    void attach_lists(const NeighborLists& lists, std::int64_t first = -1) {
        for (std::int64_t i = 0; i < rows_; ++i) {
            slots_[i] = first < 0 ? ids_[i] : first + i;
            limits_[i] = lists.distances[(slots_[i] + 1) * lists.k - 1];
#if defined(__GNUC__)
            if (lists.k <= prefetched_entries) {  // most of these lists will change soon, and they lie anywhere
                __builtin_prefetch(lists.distances + slots_[i] * lists.k, 1);
                __builtin_prefetch(lists.indices + slots_[i] * lists.k, 1);
                __builtin_prefetch(lists.indices + (slots_[i] + 1) * lists.k - 1, 1);
            }
#endif
        }
        has_lists_ = true;
    }

    // Sets the ids that are excluded as a query's own row; null: none is.
    void set_ids(const std::int32_t* self_ids) {
        for (std::int64_t i = 0; i < rows_; ++i) ids_[i] = self_ids == nullptr ? -1 : self_ids[i];
    }

    PackedRows view() const {
        const std::int64_t* slots = has_lists_ ? slots_.get() : nullptr;
        return {values_.get(), norms_.get(), limits_.get(), ids_.get(), partial_.get(), slots, rows_, params_};
    }

  private:
    static constexpr std::int64_t prefetched_entries = 32;  // of a list

    void reserve(std::int64_t values, std::int64_t rows) {
        if (values > value_capacity_) values_.reset(new (std::align_val_t{64}) float[values]), value_capacity_ = values;
        if (rows > row_capacity_) {
            norms_.reset(new float[rows]);
            partial_.reset(new float[rows * kernels().knn.tile]);
            limits_.reset(new float[rows]);
            ids_.reset(new std::int32_t[rows]);
            slots_.reset(new std::int64_t[rows]);
            row_capacity_ = rows;
        }
    }
    struct Aligned {
        void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };
    std::unique_ptr<float[], Aligned> values_;
    std::unique_ptr<float[]> norms_, limits_, partial_;
    std::unique_ptr<std::int32_t[]> ids_;
    std::unique_ptr<std::int64_t[]> slots_;
    std::int64_t value_capacity_ = 0, row_capacity_ = 0, rows_ = 0;
    bool has_lists_ = false;
    const float* params_ = nullptr;
};

// Whether to stop, inside a block of work that may take long: the calling thread polls.
inline bool stop_polled(const ThreadTeam& team) {
    if (thread_index() == 0) team.stop->poll();
    return team.stopped();
}

inline void sweep(const PackedBlock& a, const PackedBlock& b, const SearchRows& rows, const NeighborLists& lists) {
    // a 64-bit word takes the space of two floats
    const std::int64_t columns = compares_bits(rows.metric) ? rows.x.columns / 2 : rows.x.columns;
    kernels().knn.sweep[rows.metric](a.view(), b.view(), columns, lists);
}

// All pairs, as a round-robin schedule of blocks: each block is in one pair per round, so no two threads ever hold the same
// list, and each product of two blocks serves both. In the last round each block is compared with itself.
inline std::int64_t all_pairs_round_count(std::int64_t n, std::int64_t d, std::int64_t k) {
    const std::int64_t blocks = block_count(n, block_rows(d, k));
    return blocks + blocks % 2;
}

inline void all_pairs_round(const SearchRows& rows, std::int64_t round, const NeighborLists& lists, const ThreadTeam& team) {
    const std::int64_t n = rows.x.rows, d = rows.x.columns, size = block_rows(d, lists.k);
    const std::int64_t players = all_pairs_round_count(n, d, lists.k);
    const auto load = [&](PackedBlock& block, std::int64_t b) {
        block.load(rows, nullptr, b * size, std::min(size, n - b * size));
        block.attach_lists(lists);
    };
    const bool self_round = round == players - 1;
    std::vector<PackedBlock> first_blocks(team.threads), second_blocks(team.threads);
    parallel_blocks(self_round ? players : players / 2, team, [&](std::int64_t pair) {
        const auto [a, b] = self_round ? std::array{pair, pair} : round_robin_pair(players, round, pair);
        if (a * size >= n || b * size >= n) return;
        PackedBlock& first_block = first_blocks[thread_index()];
        PackedBlock& second_block = second_blocks[thread_index()];
        load(first_block, a);
        if (self_round) {
            second_block.load(rows, nullptr, b * size, std::min(size, n - b * size));  // without lists: each pair occurs twice
        } else {
            load(second_block, b);
        }
        sweep(first_block, second_block, rows, lists);
    });
}

// The nearest base rows of every query. A small number of queries is split into slabs of the base, whose lists are merged.
inline void exact_queries(const SearchRows& queries, const std::int32_t* self_ids, const SearchRows& base, const NeighborLists& lists,
                          const ThreadTeam& team) {
    const std::int64_t m = queries.x.rows, n = base.x.rows, size = block_rows(base, lists.k);
    const std::int64_t groups = block_count(m, size), blocks = block_count(n, size);
    const std::int64_t slabs = std::clamp<std::int64_t>(16 / std::max<std::int64_t>(groups, 1), 1, std::max<std::int64_t>(blocks, 1));
    std::vector<std::vector<float>> distances(slabs - 1);
    std::vector<std::vector<std::int32_t>> indices(slabs - 1);
    for (auto& part : distances) part.assign(m * lists.k, HUGE_VALF);
    for (auto& part : indices) part.assign(m * lists.k, empty_index);
    const auto of_slab = [&](std::int64_t s) {
        return s == 0 ? lists : NeighborLists{distances[s - 1].data(), indices[s - 1].data(), lists.k};
    };
    std::vector<PackedBlock> first_blocks(team.threads), second_blocks(team.threads);
    parallel_blocks(groups * slabs, team, [&](std::int64_t work) {
        const std::int64_t first = work / slabs * size, slab = work % slabs;
        const NeighborLists own = of_slab(slab);
        PackedBlock& first_block = first_blocks[thread_index()];
        PackedBlock& second_block = second_blocks[thread_index()];
        first_block.load(queries, nullptr, first, std::min(size, m - first));
        first_block.attach_lists(own, first);
        first_block.set_ids(self_ids == nullptr ? nullptr : self_ids + first);
        for (std::int64_t b = blocks * slab / slabs; b < blocks * (slab + 1) / slabs && !stop_polled(team); ++b) {
            second_block.load(base, nullptr, b * size, std::min(size, n - b * size));
            sweep(first_block, second_block, base, lists.k == own.k ? own : lists);
        }
    });
    for (std::int64_t s = 1; s < slabs; ++s) kernels().knn.merge_lists(lists, of_slab(s), 0, m);
}

// Groups of rows: group g is order[offsets[g] … offsets[g + 1]].
struct RowGroups {
    const std::int32_t* order;
    const std::int64_t* offsets;
    std::int64_t count;
    const std::int32_t* begin(std::int64_t g) const { return order + offsets[g]; }
    std::int64_t size(std::int64_t g) const { return offsets[g + 1] - offsets[g]; }
};

// Inverted-file probing: every query of a cell is compared with the members of that cell. A row queries one cell at a time,
// so the cell owns its list. Queries index `queries`, and their lists have the same order.
inline void probe_cells(const SearchRows& queries, const RowGroups& query_groups, const SearchRows& base, const RowGroups& members,
                        bool same_rows, const NeighborLists& lists, const ThreadTeam& team) {
    const std::int64_t size = block_rows(base, lists.k);
    std::vector<PackedBlock> first_blocks(team.threads), second_blocks(team.threads);
    parallel_blocks(members.count, team, [&](std::int64_t cell) {
        PackedBlock& first_block = first_blocks[thread_index()];
        PackedBlock& second_block = second_blocks[thread_index()];
        if (query_groups.size(cell) == 0) return;
        for (std::int64_t b = 0; b < members.size(cell); b += size) {
            second_block.load(base, members.begin(cell) + b, 0, std::min(size, members.size(cell) - b));
            for (std::int64_t a = 0; a < query_groups.size(cell) && !stop_polled(team); a += size) {
                first_block.load(queries, query_groups.begin(cell) + a, 0, std::min(size, query_groups.size(cell) - a));
                first_block.attach_lists(lists);
                if (!same_rows) first_block.set_ids(nullptr);
                sweep(first_block, second_block, base, lists);
            }
        }
    });
}

}  // namespace lowdim
