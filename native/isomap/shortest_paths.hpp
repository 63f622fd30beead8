// Shortest ways through a graph of lengths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Nodes by distance, nearest first, equal ones by number; four children a place, so that a sift touches few lines.
class NearestFirst {
  public:
    bool empty() const { return items_.empty(); }

    void push(float distance, std::int32_t node) {
        // The bits of a float that is not negative sort as a whole number does.
        std::uint32_t bits;
        std::memcpy(&bits, &distance, sizeof bits);
        const std::uint64_t item = static_cast<std::uint64_t>(bits) << 32 | static_cast<std::uint32_t>(node);
        std::size_t place = items_.size();
        items_.push_back(item);
        while (place > 0) {
            const std::size_t parent = (place - 1) / 4;
            if (items_[parent] <= item) break;
            items_[place] = items_[parent];
            place = parent;
        }
        items_[place] = item;
    }

    std::int32_t pop(float* distance) {
        const std::uint64_t top = items_.front(), item = items_.back();
        items_.pop_back();
        const std::size_t size = items_.size();
        std::size_t place = 0;
        while (size > 0) {
            const std::size_t first = 4 * place + 1;
            if (first >= size) break;
            std::size_t least = first;
            for (std::size_t child = first + 1; child < size && child < first + 4; ++child)
                if (items_[child] < items_[least]) least = child;
            if (items_[least] >= item) break;
            items_[place] = items_[least];
            place = least;
        }
        if (size > 0) items_[place] = item;
        const auto bits = static_cast<std::uint32_t>(top >> 32);
        std::memcpy(distance, &bits, sizeof bits);
        return static_cast<std::int32_t>(top & 0xffffffffu);
    }

  private:
    std::vector<std::uint64_t> items_;
};

// Where ways begin: query q stands at lengths[q k + s] from node nodes[q k + s], s < k; slots[q] is its row of the result.
struct Seeds {
    const std::int32_t* nodes;
    const float* lengths;
    const std::int32_t* slots;
    std::int64_t count;
    std::int64_t k;
};

struct GeodesicWork {
    NearestFirst heap;
    std::vector<float> reach;         // (n,) from one query
    std::vector<std::int32_t> order;  // (n,) nodes, nearest first
    std::vector<float> together;      // (n, lockstep) from several
    std::vector<std::uint8_t> asked;  // (n,) whether a neighbour's ways have become shorter
};

// Distances from one query to every node (infinite where there is no way), and the nodes in the order of them.
inline void dijkstra(const LengthGraph& g, const Seeds& seeds, std::int64_t query, GeodesicWork& work) {
    work.reach.assign(g.n, std::numeric_limits<float>::infinity());
    work.order.clear();
    float* reach = work.reach.data();
    for (std::int64_t s = query * seeds.k; s < (query + 1) * seeds.k; ++s) {
        const std::int32_t node = seeds.nodes[s];
        if (!(seeds.lengths[s] < reach[node])) continue;
        reach[node] = seeds.lengths[s];
        work.heap.push(seeds.lengths[s], node);
    }
    while (!work.heap.empty()) {
        float distance;
        const std::int32_t v = work.heap.pop(&distance);
        if (distance > reach[v]) continue;  // a shorter way was found after this one was noted
        work.order.push_back(v);
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) {
            const float further = distance + g.lengths[e];
            const std::int32_t u = g.columns[e];
            if (further < reach[u]) {
                reach[u] = further;
                work.heap.push(further, u);
            }
        }
    }
}

constexpr int most_visits = 24;  // of a node; beyond, `lockstep` searches are cheaper one by one

// Distances of `lockstep` queries that stand near one another: in the order of the distances from a point among them, a few
// sweeps find all ways. The least fixed point is Dijkstra's, bit for bit. False: they stand too far apart for it.
inline bool sweep_together(const LengthGraph& g, const Seeds& seeds, std::int64_t first, GeodesicWork& work) {
    work.together.assign(g.n * lockstep, std::numeric_limits<float>::infinity());
    work.asked.assign(g.n, 1);
    for (std::int64_t l = 0; l < lockstep; ++l)
        for (std::int64_t s = (first + l) * seeds.k; s < (first + l + 1) * seeds.k; ++s) {
            float& place = work.together[seeds.nodes[s] * static_cast<std::int64_t>(lockstep) + l];
            place = std::min(place, seeds.lengths[s]);
        }
    std::int64_t visits = 0;
    for (int sweep = 0; visits < most_visits * g.n; ++sweep) {
        const bool backwards = sweep > 2 && sweep % 2 == 0;  // ways lead outwards, so most are found forwards
        const std::int64_t more = kernels().manifold.relax_sweep(g, work.order.data(), backwards, work.asked.data(), work.together.data());
        if (more == 0) return true;
        visits += more;
    }
    return false;
}

// out (slots, n): distances from every query to every node, the node v in column names[v].
inline void geodesics(const LengthGraph& g, const Seeds& seeds, const std::int32_t* names, float* out, const Crew& crew) {
    std::vector<GeodesicWork> works(crew.threads);
    const std::int64_t many = seeds.count >= 1024 ? 4 : 1;  // batches that share the order of one search
    parallel_ranges(seeds.count, many * lockstep, crew, [&](std::int64_t begin, std::int64_t end) {
        GeodesicWork& work = works[thread_index()];
        if (end - begin >= lockstep) {
            dijkstra(g, seeds, (begin + end) / 2, work);
            for (std::int64_t v = 0; v < g.n && static_cast<std::int64_t>(work.order.size()) < g.n; ++v)
                if (std::isinf(work.reach[v])) work.order.push_back(static_cast<std::int32_t>(v));
        }
        bool together = true;
        for (std::int64_t first = begin; first < end && !crew.stopped();) {
            const std::int64_t count = std::min<std::int64_t>(lockstep, end - first);
            if (together && count == lockstep) {
                together = sweep_together(g, seeds, first, work);
                if (together) {
                    for (std::int64_t l = 0; l < lockstep; ++l) {
                        float* row = out + seeds.slots[first + l] * g.n;
                        for (std::int64_t v = 0; v < g.n; ++v) row[names[v]] = work.together[v * lockstep + l];
                    }
                    first += lockstep;
                    continue;
                }
            }
            for (std::int64_t query = first; query < first + count && !crew.stopped(); ++query) {
                dijkstra(g, seeds, query, work);
                float* row = out + seeds.slots[query] * g.n;
                for (std::int64_t v = 0; v < g.n; ++v) row[names[v]] = work.reach[v];
            }
            first += count;
        }
    });
}

// Nodes in groups of `size` that hang together, each next to the one before: who is near is stored near.
inline void local_order(const LengthGraph& g, std::int64_t size, std::int32_t* order) {
    std::vector<bool> taken(g.n, false);
    std::vector<std::int32_t> border;
    std::int64_t filled = 0, next = 0;
    while (filled < g.n) {
        std::int64_t start = -1;
        while (!border.empty() && start < 0) {
            if (!taken[border.back()]) start = border.back();
            border.pop_back();
        }
        if (start < 0) {
            while (taken[next]) ++next;
            start = next;
        }
        const std::int64_t begin = filled, end = std::min(filled + size, g.n);
        taken[start] = true;
        order[filled++] = static_cast<std::int32_t>(start);
        for (std::int64_t at = begin; at < filled; ++at) {
            const std::int32_t v = order[at];
            for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) {
                const std::int32_t u = g.columns[e];
                if (taken[u]) continue;
                if (filled < end) {
                    taken[u] = true;
                    order[filled++] = u;
                } else {
                    border.push_back(u);
                }
            }
        }
    }
}

}  // namespace lowdim
