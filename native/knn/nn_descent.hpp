// Rounds of NN-descent (Dong, Moses and Li 2011): the neighbours of a row are introduced to one another. Joins only read
// the lists and write down updates; then every block of rows takes the updates meant for it. Nobody waits for anybody, and
// the outcome does not depend on the order.
#pragma once

#include <array>

#include "knn/search.hpp"

namespace lowdim {

struct NnDescentOptions {
    std::uint64_t seed;
    std::uint64_t round;
    std::int64_t forward_count;      // how many of a row's nearest are introduced
    std::int64_t reverse_neighbors;  // and how many of those that list the row
};

// Who lists whom: the rows that name row i are at offsets[i] … offsets[i + 1], in ascending order.
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

// One thread's memory for parties.
struct JoinScratch {
    std::vector<std::int32_t> members;
    std::vector<std::uint8_t> is_new;
    std::vector<float> buffer;
    std::vector<Update> updates;
    std::int64_t count = 0;

    JoinScratch(std::int64_t capacity, std::int64_t d)
        : members(capacity),
          is_new(capacity),
          buffer((capacity + 4) * (d + 16) + (capacity + 4) * (capacity + 4)),
          updates(capacity * capacity) {}

    void add(std::int32_t id, std::uint8_t flag) {
        for (std::int64_t m = 0; m < count; ++m) {
            if (members[m] != id) continue;
            is_new[m] |= flag;
            return;
        }
        members[count] = id;
        is_new[count++] = flag;
    }

    std::int64_t partition_new() {
        std::int64_t new_count = 0;
        for (std::int64_t m = 0; m < count; ++m)
            if (is_new[m]) std::swap(members[new_count], members[m]), std::swap(is_new[new_count++], is_new[m]);
        return new_count;
    }
};

// The updates of one block of joins, those for one block of rows next to each other.
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

// One round; `order` lists the rows so that near ones come together. Returns how many places changed hands.
inline std::int64_t nn_descent_round(const SearchRows& rows, const std::int32_t* order, const NeighborLists& lists, std::uint8_t* is_new,
                                     const NnDescentOptions& options, const ThreadTeam& team) {
    constexpr std::int64_t rows_per_block = 256, owner_rows = 2048, passes = 4;
    const std::int64_t n = rows.x.rows, k = lists.k, forward_count = std::min(options.forward_count, k);
    std::vector<std::int32_t> forward(n * forward_count);
    std::vector<std::uint8_t> forward_is_new(n * forward_count);
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(lists.indices + i * k, forward_count, forward.begin() + i * forward_count);
        std::copy_n(is_new + i * k, forward_count, forward_is_new.begin() + i * forward_count);
        std::fill_n(is_new + i * k, forward_count, std::uint8_t{0});
    }
    const ReverseNeighbors reverse = reverse_neighbors(forward, forward_is_new, n, forward_count);
    const std::int64_t owners = block_count(n, owner_rows), blocks = block_count(n, rows_per_block);
    std::vector<JoinScratch> scratches;
    for (int t = 0; t < team.threads; ++t) scratches.emplace_back(forward_count + options.reverse_neighbors, rows.x.columns);

    const auto join_row = [&](std::int64_t i, JoinScratch& scratch, UpdateQueue& queue) {
        scratch.count = 0;
        for (std::int64_t j = i * forward_count; j < (i + 1) * forward_count; ++j)
            if (forward[j] != empty_index) scratch.add(forward[j], forward_is_new[j]);
        const std::int64_t begin = reverse.offsets[i], found = reverse.offsets[i + 1] - begin;
        const std::int64_t taken = std::min(found, options.reverse_neighbors);
        PhiloxWords words{};
        for (std::int64_t t = 0; t < taken; ++t) {
            std::int64_t at = begin + t;
            if (found > taken) {  // one from each of `taken` equal stretches
                if (t % 4 == 0)
                    words = draw(options.seed, (std::uint64_t{1} << 40) + options.round,
                                 (static_cast<std::uint64_t>(i) << 16) + static_cast<std::uint64_t>(t / 4));
                const std::int64_t low = found * t / taken, high = found * (t + 1) / taken;
                at = begin + low + static_cast<std::int64_t>(words[t % 4] % static_cast<std::uint64_t>(high - low));
            }
            scratch.add(reverse.rows[at], reverse.is_new[at]);
        }
        const std::int64_t new_count = scratch.partition_new();
        if (new_count == 0) return;
        const JoinGroup group = {scratch.members.data(), new_count, scratch.count};
        const std::int64_t written =
            kernels().knn.local_join[rows.metric](rows.x, group, lists, scratch.buffer.data(), scratch.updates.data());
        queue.updates.insert(queue.updates.end(), scratch.updates.begin(), scratch.updates.begin() + written);
    };

    std::int64_t changed = 0;
    for (std::int64_t pass = 0; pass < passes && !team.stopped(); ++pass) {
        const std::int64_t from = blocks * pass / passes, to = blocks * (pass + 1) / passes;
        std::vector<UpdateQueue> queues(to - from);
        parallel_blocks(to - from, team, [&](std::int64_t b) {
            JoinScratch& scratch = scratches[thread_index()];
            for (std::int64_t p = (from + b) * rows_per_block; p < std::min(n, (from + b + 1) * rows_per_block); ++p)
                join_row(order[p], scratch, queues[b]);
            queues[b].sort_by_owner(owners, owner_rows);
        });
        if (team.stopped()) break;
        std::vector<std::int64_t> taken(owners, 0);
        parallel_blocks(owners, team, [&](std::int64_t owner) {
            for (const UpdateQueue& queue : queues)
                taken[owner] += kernels().knn.apply_updates(lists, is_new, queue.updates.data() + queue.offsets[owner],
                                                            queue.offsets[owner + 1] - queue.offsets[owner]);
        });
        for (const std::int64_t t : taken) changed += t;
    }
    return changed;
}

}  // namespace lowdim
