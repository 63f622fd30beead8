// Rounds of NN-descent (Dong, Moses and Li 2011): the neighbours of a row are introduced to one another. Joins only read
// the lists and write down updates; then every block of rows takes the updates meant for it. Nobody waits for anybody, and
// the outcome does not depend on the order.
#pragma once

#include <array>

#include "knn/search.hpp"

namespace lowdim {

struct DescentOptions {
    std::uint64_t seed;
    std::uint64_t round;
    std::int64_t forward;  // how many of a row's nearest are introduced
    std::int64_t reverse;  // and how many of those that list the row
};

// Who lists whom: the rows that name row i are at offsets[i] … offsets[i + 1], in ascending order.
struct Reversed {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> rows;
    std::vector<std::uint8_t> fresh;
};

inline Reversed reverse(const std::vector<std::int32_t>& named, const std::vector<std::uint8_t>& fresh, std::int64_t n,
                        std::int64_t width) {
    Reversed out;
    out.offsets.assign(n + 1, 0);
    for (const std::int32_t who : named)
        if (who != nobody) ++out.offsets[who + 1];
    for (std::int64_t i = 0; i < n; ++i) out.offsets[i + 1] += out.offsets[i];
    out.rows.resize(out.offsets[n]);
    out.fresh.resize(out.offsets[n]);
    std::vector<std::int64_t> next(out.offsets.begin(), out.offsets.end() - 1);
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = i * width; j < (i + 1) * width; ++j) {
            if (named[j] == nobody) continue;
            const std::int64_t at = next[named[j]]++;
            out.rows[at] = static_cast<std::int32_t>(i);
            out.fresh[at] = fresh[j];
        }
    }
    return out;
}

// One thread's memory for parties.
struct Hall {
    std::vector<std::int32_t> members;
    std::vector<std::uint8_t> fresh;
    std::vector<float> scratch;
    std::vector<Update> updates;
    std::int64_t count = 0;

    Hall(std::int64_t most, std::int64_t d)
        : members(most), fresh(most), scratch((most + 4) * (d + 16) + (most + 4) * (most + 4)), updates(most * most) {}

    void invite(std::int32_t who, std::uint8_t is_fresh) {
        for (std::int64_t m = 0; m < count; ++m) {
            if (members[m] != who) continue;
            fresh[m] |= is_fresh;
            return;
        }
        members[count] = who;
        fresh[count++] = is_fresh;
    }

    std::int64_t newcomers_first() {
        std::int64_t newcomers = 0;
        for (std::int64_t m = 0; m < count; ++m)
            if (fresh[m]) std::swap(members[newcomers], members[m]), std::swap(fresh[newcomers++], fresh[m]);
        return newcomers;
    }
};

// The updates of one block of joins, those for one block of rows next to each other.
struct Post {
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
inline std::int64_t descent_round(const SearchRows& rows, const std::int32_t* order, const NeighborLists& lists,
                                  std::uint8_t* fresh, const DescentOptions& choice, const Crew& crew) {
    constexpr std::int64_t parties = 256, owner_rows = 2048, passes = 4;
    const std::int64_t n = rows.x.rows, k = lists.k, forward = std::min(choice.forward, k);
    std::vector<std::int32_t> named(n * forward);
    std::vector<std::uint8_t> marks(n * forward);
    for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(lists.indices + i * k, forward, named.begin() + i * forward);
        std::copy_n(fresh + i * k, forward, marks.begin() + i * forward);
        std::fill_n(fresh + i * k, forward, std::uint8_t{0});
    }
    const Reversed back = reverse(named, marks, n, forward);
    const std::int64_t owners = blocks_of(n, owner_rows), blocks = blocks_of(n, parties);
    std::vector<Hall> halls;
    for (int t = 0; t < crew.threads; ++t) halls.emplace_back(forward + choice.reverse, rows.x.columns);

    const auto host = [&](std::int64_t i, Hall& hall, Post& post) {
        hall.count = 0;
        for (std::int64_t j = i * forward; j < (i + 1) * forward; ++j)
            if (named[j] != nobody) hall.invite(named[j], marks[j]);
        const std::int64_t begin = back.offsets[i], found = back.offsets[i + 1] - begin;
        const std::int64_t taken = std::min(found, choice.reverse);
        Words words{};
        for (std::int64_t t = 0; t < taken; ++t) {
            std::int64_t at = begin + t;
            if (found > taken) {  // one from each of `taken` equal stretches
                if (t % 4 == 0) words = draw(choice.seed, (std::uint64_t{1} << 40) + choice.round, (static_cast<std::uint64_t>(i) << 16) + static_cast<std::uint64_t>(t / 4));
                const std::int64_t low = found * t / taken, high = found * (t + 1) / taken;
                at = begin + low + static_cast<std::int64_t>(words[t % 4] % static_cast<std::uint64_t>(high - low));
            }
            hall.invite(back.rows[at], back.fresh[at]);
        }
        const std::int64_t newcomers = hall.newcomers_first();
        if (newcomers == 0) return;
        const Party party = {hall.members.data(), newcomers, hall.count};
        const std::int64_t written = kernels().neighbors.join[rows.metric](rows.x, party, lists, hall.scratch.data(), hall.updates.data());
        post.updates.insert(post.updates.end(), hall.updates.begin(), hall.updates.begin() + written);
    };

    std::int64_t changed = 0;
    for (std::int64_t pass = 0; pass < passes && !crew.stopped(); ++pass) {
        const std::int64_t from = blocks * pass / passes, to = blocks * (pass + 1) / passes;
        std::vector<Post> posts(to - from);
        parallel_blocks(to - from, crew, [&](std::int64_t b) {
            Hall& hall = halls[thread_index()];
            for (std::int64_t p = (from + b) * parties; p < std::min(n, (from + b + 1) * parties); ++p)
                host(order[p], hall, posts[b]);
            posts[b].sort_by_owner(owners, owner_rows);
        });
        if (crew.stopped()) break;
        std::vector<std::int64_t> taken(owners, 0);
        parallel_blocks(owners, crew, [&](std::int64_t owner) {
            for (const Post& post : posts)
                taken[owner] += kernels().neighbors.apply_updates(lists, fresh, post.updates.data() + post.offsets[owner],
                                                                  post.offsets[owner + 1] - post.offsets[owner]);
        });
        for (const std::int64_t t : taken) changed += t;
    }
    return changed;
}

}  // namespace lowdim
