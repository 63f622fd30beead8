// Rounds of NN-descent (Dong, Moses and Li 2011): the neighbors of a row are compared with one another. Local joins only read
// the lists and queue updates; then every block of rows applies the updates for its own lists. No locks are needed, and the
// result does not depend on the order.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "knn/search.hpp"

namespace lowdim {

struct NnDescentOptions {
    std::uint64_t seed;
    std::uint64_t round;
    std::int64_t forward;  // how many of a row's nearest neighbors are joined
    std::int64_t reverse;  // and how many of the rows that list it
};

// Reverse neighbors: the rows that list row i are at offsets[i] … offsets[i + 1], in ascending order.
struct ReverseNeighbors {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> rows;
    std::vector<std::uint8_t> is_new;
};

inline ReverseNeighbors reverse_neighbors(const std::vector<std::int32_t>& forward, const std::vector<std::uint8_t>& is_new, std::int64_t n,
                                          std::int64_t width) {
    ReverseNeighbors out;
    out.offsets.assign(n + 1, 0);
    for (const std::int32_t id : forward)
        if (id != empty_index) ++out.offsets[id + 1];
    for (std::int64_t i = 0; i < n; ++i) out.offsets[i + 1] += out.offsets[i];
    out.rows.resize(out.offsets[n]);
    out.is_new.resize(out.offsets[n]);
    std::vector<std::int64_t> next(out.offsets.begin(), out.offsets.end() - 1);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = i * width; j < (i + 1) * width; ++j) {
            if (forward[j] == empty_index) continue;
            const std::int64_t at = next[forward[j]]++;
            out.rows[at] = static_cast<std::int32_t>(i);
            out.is_new[at] = is_new[j];
        }
    }
    return out;
}

// One thread's memory for local joins.
struct JoinScratch {
    std::vector<std::int32_t> members;
    std::vector<std::uint8_t> is_new;
    std::vector<float> buffer;
    std::vector<Update> updates;
    std::int64_t count = 0;

    JoinScratch(std::int64_t capacity, std::int64_t d)
        : members(capacity),
          is_new(capacity),
          buffer(padded_group(capacity) * (d + 16 + 2 + padded_group(capacity))),
          updates(capacity * capacity) {}

    // Adds a member, or merges its flag if it is there already.
    void add(std::int32_t id, std::uint8_t flag) {
        for (std::int64_t m = 0; m < count; ++m) {
            if (members[m] != id) continue;
            is_new[m] |= flag;
            return;
        }
        members[count] = id;
        is_new[count++] = flag;
    }

    // Moves the new members to the front; returns their number.
    std::int64_t partition_new() {
        std::int64_t new_count = 0;
        for (std::int64_t m = 0; m < count; ++m)
            if (is_new[m]) std::swap(members[new_count], members[m]), std::swap(is_new[new_count++], is_new[m]);
        return new_count;
    }
};

// The updates found by one block of joins, grouped by the block of rows that owns the lists.
struct UpdateQueue {
    std::vector<Update> updates;
    std::vector<std::int64_t> offsets;

    void sort_by_owner(std::int64_t owners, std::int64_t rows_each) {
        offsets.assign(owners + 1, 0);
        for (const Update& u : updates) ++offsets[u.row / rows_each + 1];
        for (std::int64_t o = 0; o < owners; ++o) offsets[o + 1] += offsets[o];
        std::vector<Update> sorted(updates.size());
        std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
        for (const Update& u : updates) sorted[next[u.row / rows_each]++] = u;
        updates.swap(sorted);
    }
};

// One round of local joins. The lists at its beginning are copied, because updates change them.
class NnDescentRound {
  public:
    NnDescentRound(const SearchRows& rows, const NeighborLists& lists, std::uint8_t* is_new, const NnDescentOptions& options)
        : rows_(rows), lists_(lists), is_new_(is_new), options_(options), width_(std::min(options.forward, lists.k)) {
        const std::int64_t n = rows.x.rows, k = lists.k;
        forward_.resize(n * width_);
        forward_is_new_.resize(n * width_);
        for (std::int64_t i = 0; i < n; ++i) {
            std::copy_n(lists.indices + i * k, width_, forward_.begin() + i * width_);
            std::copy_n(is_new + i * k, width_, forward_is_new_.begin() + i * width_);
            std::fill_n(is_new + i * k, width_, std::uint8_t{0});
        }
        reverse_ = reverse_neighbors(forward_, forward_is_new_, n, width_);
    }

    // Joins all rows in the given order, in a few passes; returns the number of list entries that changed.
    std::int64_t run(const std::int32_t* order, const ThreadTeam& team) {
        constexpr std::int64_t passes = 4;
        const std::int64_t blocks = block_count(rows_.x.rows, rows_per_join);
        std::vector<JoinScratch> scratches;
        for (int t = 0; t < team.threads; ++t) scratches.emplace_back(width_ + options_.reverse, rows_.x.columns);
        std::int64_t changed = 0;
        for (std::int64_t pass = 0; pass < passes && !team.stopped(); ++pass) {
            const std::int64_t from = blocks * pass / passes, to = blocks * (pass + 1) / passes;
            std::vector<UpdateQueue> queues(to - from);
            parallel_blocks(to - from, team, [&](std::int64_t b) {
                JoinScratch& scratch = scratches[thread_index()];
                const std::int64_t begin = (from + b) * rows_per_join, end = std::min(rows_.x.rows, begin + rows_per_join);
                for (std::int64_t p = begin; p < end; ++p) join_row(order[p], scratch, queues[b]);
                queues[b].sort_by_owner(block_count(rows_.x.rows, rows_per_owner), rows_per_owner);
            });
            if (!team.stopped()) changed += apply(queues, team);
        }
        return changed;
    }

  private:
    static constexpr std::int64_t rows_per_join = 256, rows_per_owner = 2048;

    // Compares the neighbors and reverse neighbors of row i with one another.
    void join_row(std::int64_t i, JoinScratch& scratch, UpdateQueue& queue) const {
        scratch.count = 0;
        for (std::int64_t j = i * width_; j < (i + 1) * width_; ++j)
            if (forward_[j] != empty_index) scratch.add(forward_[j], forward_is_new_[j]);
        sample_reverse(i, scratch);
        const std::int64_t new_count = scratch.partition_new();
        if (new_count == 0) return;
        const JoinGroup group = {scratch.members.data(), new_count, scratch.count};
        const std::int64_t written =
            kernels().knn.local_join[rows_.metric](rows_.x, group, lists_, scratch.buffer.data(), scratch.updates.data());
        queue.updates.insert(queue.updates.end(), scratch.updates.begin(), scratch.updates.begin() + written);
    }

    // Adds the reverse neighbors of row i; if there are too many, a random one from each of `taken` equal ranges.
    void sample_reverse(std::int64_t i, JoinScratch& scratch) const {
        const std::int64_t begin = reverse_.offsets[i], found = reverse_.offsets[i + 1] - begin;
        const std::int64_t taken = std::min(found, options_.reverse);
        PhiloxWords words{};
        for (std::int64_t t = 0; t < taken; ++t) {
            std::int64_t at = begin + t;
            if (found > taken) {
                if (t % 4 == 0)
                    words = draw(options_.seed, (std::uint64_t{1} << 40) + options_.round,
                                 (static_cast<std::uint64_t>(i) << 16) + static_cast<std::uint64_t>(t / 4));
                const std::int64_t low = found * t / taken, high = found * (t + 1) / taken;
                at = begin + low + static_cast<std::int64_t>(words[t % 4] % static_cast<std::uint64_t>(high - low));
            }
            scratch.add(reverse_.rows[at], reverse_.is_new[at]);
        }
    }

    std::int64_t apply(const std::vector<UpdateQueue>& queues, const ThreadTeam& team) const {
        std::vector<std::int64_t> accepted(block_count(rows_.x.rows, rows_per_owner), 0);
        parallel_blocks(static_cast<std::int64_t>(accepted.size()), team, [&](std::int64_t owner) {
            for (const UpdateQueue& queue : queues)
                accepted[owner] += kernels().knn.apply_updates(lists_, is_new_, queue.updates.data() + queue.offsets[owner],
                                                               queue.offsets[owner + 1] - queue.offsets[owner]);
        });
        std::int64_t changed = 0;
        for (const std::int64_t count : accepted) changed += count;
        return changed;
    }

    const SearchRows& rows_;
    const NeighborLists& lists_;
    std::uint8_t* is_new_;
    NnDescentOptions options_;
    std::int64_t width_;  // neighbors per row that are joined
    std::vector<std::int32_t> forward_;
    std::vector<std::uint8_t> forward_is_new_;
    ReverseNeighbors reverse_;
};

// One round; `order` keeps close rows together. Returns the number of list entries that changed.
inline std::int64_t nn_descent_round(const SearchRows& rows, const std::int32_t* order, const NeighborLists& lists, std::uint8_t* is_new,
                                     const NnDescentOptions& options, const ThreadTeam& team) {
    return NnDescentRound(rows, lists, is_new, options).run(order, team);
}

}  // namespace lowdim
