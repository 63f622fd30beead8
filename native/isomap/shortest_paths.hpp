// Shortest paths in a weighted graph: Dijkstra's algorithm, and batched relaxation for sources that are close together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// A 4-ary min-heap of nodes by distance, ties by index; four children per node, so that a sift touches few cache lines.
class MinHeap {
  public:
    bool empty() const { return items_.empty(); }

    void push(float distance, std::int32_t node) {
        // The bits of a nonnegative float sort like an integer.
        std::uint32_t bits;
        std::memcpy(&bits, &distance, sizeof bits);
        const std::uint64_t item = static_cast<std::uint64_t>(bits) << 32 | static_cast<std::uint32_t>(node);
        std::size_t position = items_.size();
        items_.push_back(item);
        while (position > 0) {
            const std::size_t parent = (position - 1) / 4;
            if (items_[parent] <= item) break;
            items_[position] = items_[parent];
            position = parent;
        }
        items_[position] = item;
    }

    std::int32_t pop(float* distance) {
        const std::uint64_t top = items_.front(), item = items_.back();
        items_.pop_back();
        const std::size_t size = items_.size();
        std::size_t position = 0;
        while (size > 0) {
            const std::size_t first = 4 * position + 1;
            if (first >= size) break;
            std::size_t least = first;
            for (std::size_t child = first + 1; child < size && child < first + 4; ++child)
                if (items_[child] < items_[least]) least = child;
            if (items_[least] >= item) break;
            items_[position] = items_[least];
            position = least;
        }
        if (size > 0) items_[position] = item;
        const auto bits = static_cast<std::uint32_t>(top >> 32);
        std::memcpy(distance, &bits, sizeof bits);
        return static_cast<std::int32_t>(top & 0xffffffffu);
    }

  private:
    std::vector<std::uint64_t> items_;
};

// Sources: query q is at lengths[q k + s] from node nodes[q k + s], s < k; slots[q] is its row of the result.
struct Seeds {
    const std::int32_t* nodes;
    const float* lengths;
    const std::int32_t* slots;
    std::int64_t count;
    std::int64_t k;
};

struct ShortestPathScratch {
    MinHeap heap;
    std::vector<float> distances;        // (n,) from one query
    std::vector<std::int32_t> order;     // (n,) nodes, nearest first
    std::vector<float> batch_distances;  // (n, batch_sources) from several queries
    std::vector<std::uint8_t> active;    // (n,) whether a neighbor's distance has decreased
};

// Asks for Ctrl-C, which only the first thread may; true if the work is to stop.
inline bool interrupted(const ThreadTeam& team) {
    if (thread_index() == 0) team.stop->poll();
    return team.stopped();
}

constexpr std::int64_t nodes_per_poll = 1 << 14;

// Distances from one query to every node (infinite if unreachable), and the nodes in that order.
inline void dijkstra(const WeightedGraph& g, const Seeds& seeds, std::int64_t query, ShortestPathScratch& scratch,
                     const ThreadTeam& team) {
    scratch.distances.assign(g.n, std::numeric_limits<float>::infinity());
    scratch.order.clear();
    float* distances = scratch.distances.data();
    for (std::int64_t s = query * seeds.k; s < (query + 1) * seeds.k; ++s) {
        const std::int32_t node = seeds.nodes[s];
        if (!(seeds.lengths[s] < distances[node])) continue;
        distances[node] = seeds.lengths[s];
        scratch.heap.push(seeds.lengths[s], node);
    }
    while (!scratch.heap.empty()) {
        if (scratch.order.size() % nodes_per_poll == 0 && interrupted(team)) return;
        float distance;
        const std::int32_t v = scratch.heap.pop(&distance);
        if (distance > distances[v]) continue;  // outdated entry: a shorter path has been found since
        scratch.order.push_back(v);
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) {
            const float candidate = distance + g.lengths[e];
            const std::int32_t u = g.columns[e];
            if (candidate < distances[u]) {
                distances[u] = candidate;
                scratch.heap.push(candidate, u);
            }
        }
    }
}

constexpr int max_visits_per_node = 24;  // beyond this, separate searches are cheaper than relaxing the batch

// Distances of a batch of nearby queries. In the order of the distances from one of them, a few relaxation sweeps find all
// shortest paths; the fixed point is Dijkstra's, bit for bit. Returns false if the queries are too far apart for it.
inline bool relax_batch(const WeightedGraph& g, const Seeds& seeds, std::int64_t first, ShortestPathScratch& scratch,
                        const ThreadTeam& team) {
    scratch.batch_distances.assign(g.n * batch_sources, std::numeric_limits<float>::infinity());
    scratch.active.assign(g.n, 1);
    for (std::int64_t l = 0; l < batch_sources; ++l)
        for (std::int64_t s = (first + l) * seeds.k; s < (first + l + 1) * seeds.k; ++s) {
            float& position = scratch.batch_distances[seeds.nodes[s] * static_cast<std::int64_t>(batch_sources) + l];
            position = std::min(position, seeds.lengths[s]);
        }
    std::int64_t visits = 0;
    for (int sweep = 0; visits < max_visits_per_node * g.n && !interrupted(team); ++sweep) {
        const bool backwards = sweep > 2 && sweep % 2 == 0;  // paths lead outward, so forward sweeps find most of them
        const std::int64_t more =
            kernels().isomap.relax_sweep(g, scratch.order.data(), backwards, scratch.active.data(), scratch.batch_distances.data());
        if (more == 0) return true;
        visits += more;
    }
    return false;
}

// out (slots, n): distances from every query to every node; node v is in column node_columns[v].
inline void shortest_paths(const WeightedGraph& g, const Seeds& seeds, const std::int32_t* node_columns, float* out,
                           const ThreadTeam& team) {
    std::vector<ShortestPathScratch> scratches(team.threads);
    const std::int64_t batches_per_block = seeds.count >= 1024 ? 4 : 1;  // batches that share the node order of one search
    parallel_ranges(seeds.count, batches_per_block * batch_sources, team, [&](std::int64_t begin, std::int64_t end) {
        ShortestPathScratch& scratch = scratches[thread_index()];
        if (end - begin >= batch_sources) {
            dijkstra(g, seeds, (begin + end) / 2, scratch, team);
            for (std::int64_t v = 0; v < g.n && static_cast<std::int64_t>(scratch.order.size()) < g.n; ++v)
                if (std::isinf(scratch.distances[v])) scratch.order.push_back(static_cast<std::int32_t>(v));
        }
        bool batch_distances = true;
        for (std::int64_t first = begin; first < end && !team.stopped();) {
            const std::int64_t count = std::min<std::int64_t>(batch_sources, end - first);
            if (batch_distances && count == batch_sources) {
                batch_distances = relax_batch(g, seeds, first, scratch, team);
                if (batch_distances) {
                    for (std::int64_t l = 0; l < batch_sources; ++l) {
                        float* row = out + seeds.slots[first + l] * g.n;
                        for (std::int64_t v = 0; v < g.n; ++v) row[node_columns[v]] = scratch.batch_distances[v * batch_sources + l];
                    }
                    first += batch_sources;
                    continue;
                }
            }
            for (std::int64_t query = first; query < first + count && !team.stopped(); ++query) {
                dijkstra(g, seeds, query, scratch, team);
                float* row = out + seeds.slots[query] * g.n;
                for (std::int64_t v = 0; v < g.n; ++v) row[node_columns[v]] = scratch.distances[v];
            }
            first += count;
        }
    });
}

// An order of the nodes in connected groups of `size`, each adjacent to the one before: close nodes are stored together.
inline void locality_order(const WeightedGraph& g, std::int64_t size, std::int32_t* order) {
    std::vector<bool> taken(g.n, false);
    std::vector<std::int32_t> frontier;
    std::int64_t filled = 0, next = 0;
    while (filled < g.n) {
        std::int64_t start = -1;
        while (!frontier.empty() && start < 0) {
            if (!taken[frontier.back()]) start = frontier.back();
            frontier.pop_back();
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
                    frontier.push_back(u);
                }
            }
        }
    }
}

}  // namespace lowdim
