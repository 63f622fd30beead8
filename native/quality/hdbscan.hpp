// HDBSCAN*: clusters of varying density from a table of distances (Campello, Moulavi, Sander 2013).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace lowdim {

// Holds its scratch memory, so that many small tables can be clustered one after the other.
class Hdbscan {
  public:
    static constexpr std::int32_t fewest = 5;  // rows of a cluster, and other rows within a core distance

    // Labels of p rows from their distances (p, p), symmetric and positive off the diagonal; noise has -1. All rows may be one
    // cluster. Returns the number of clusters.
    std::int32_t cluster(const float* distances, std::int32_t p, std::int32_t* labels) {
        std::fill(labels, labels + p, -1);
        if (p < 2) return 0;
        find_core_distances(distances, p);
        span(distances, p);
        merge(p);
        condense(p);
        return label(labels);
    }

  private:
    struct Edge {
        std::int32_t a, b;
        float length;
    };
    struct Merge {
        std::int32_t left, right, size;
        double density;  // 1 / distance at which the two parts join
    };
    struct Departure {  // of a row, or of a cluster that splits off, from a cluster
        std::int32_t cluster, row;
        double density;
    };

    void find_core_distances(const float* distances, std::int32_t p) {
        core_.resize(static_cast<std::size_t>(p));
        const std::int32_t at = std::min(fewest, p - 1);
        for (std::int32_t i = 0; i < p; ++i) {
            row_.assign(distances + std::int64_t{i} * p, distances + std::int64_t{i + 1} * p);
            std::nth_element(row_.begin(), row_.begin() + at, row_.end());
            core_[i] = row_[at];
        }
    }

    // Prim's minimum spanning tree of the mutual reachability distances, by ascending length.
    void span(const float* distances, std::int32_t p) {
        row_.assign(static_cast<std::size_t>(p), std::numeric_limits<float>::infinity());
        nearest_.assign(static_cast<std::size_t>(p), 0);
        outside_.resize(static_cast<std::size_t>(p));
        std::iota(outside_.begin(), outside_.end(), 0);
        edges_.clear();
        std::int32_t current = 0;
        outside_.erase(outside_.begin());
        while (!outside_.empty()) {
            const float* from = distances + std::int64_t{current} * p;
            std::size_t best = 0;
            for (std::size_t at = 0; at < outside_.size(); ++at) {
                const std::int32_t j = outside_[at];
                const float reach = std::max({from[j], core_[current], core_[j]});
                if (reach < row_[j]) {
                    row_[j] = reach;
                    nearest_[j] = current;
                }
                if (row_[j] < row_[outside_[best]]) best = at;
            }
            current = outside_[best];
            edges_.push_back({nearest_[current], current, row_[current]});
            outside_.erase(outside_.begin() + static_cast<std::ptrdiff_t>(best));
        }
        std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& x, const Edge& y) { return x.length < y.length; });
    }

    // The single-linkage tree: node p + e joins what edge e connects.
    void merge(std::int32_t p) {
        merges_.clear();
        parent_.resize(static_cast<std::size_t>(2 * p));
        std::iota(parent_.begin(), parent_.end(), 0);
        for (const Edge& edge : edges_) {
            const std::int32_t a = root(edge.a), b = root(edge.b), node = p + static_cast<std::int32_t>(merges_.size());
            merges_.push_back({a, b, size(a, p) + size(b, p), 1.0 / edge.length});
            parent_[a] = parent_[b] = node;
        }
    }

    std::int32_t root(std::int32_t node) {
        while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
        return node;
    }

    std::int32_t size(std::int32_t node, std::int32_t p) const { return node < p ? 1 : merges_[node - p].size; }

    // From the top down: a split into two parts of at least `fewest` rows makes two clusters; smaller parts leave theirs.
    void condense(std::int32_t p) {
        above_.assign(1, -1);
        birth_.assign(1, 0.0);
        stability_.assign(1, 0.0);
        departures_.clear();
        queue_.assign(1, {2 * p - 2, 0});
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const auto [node, own] = queue_[next];
            const Merge& split = merges_[node - p];
            const bool both = size(split.left, p) >= fewest && size(split.right, p) >= fewest;
            for (const std::int32_t part : {split.left, split.right}) {
                if (size(part, p) < fewest) {
                    leave(part, own, split.density, p);
                } else if (both) {
                    queue_.push_back({part, static_cast<std::int32_t>(above_.size())});
                    departures_.push_back({own, -1, split.density});
                    stability_[own] += (split.density - birth_[own]) * size(part, p);
                    above_.push_back(own);
                    birth_.push_back(split.density);
                    stability_.push_back(0.0);
                } else {
                    queue_.push_back({part, own});
                }
            }
        }
    }

    // All rows below a node leave a cluster.
    void leave(std::int32_t node, std::int32_t cluster, double density, std::int32_t p) {
        if (node >= p) {
            leave(merges_[node - p].left, cluster, density, p);
            leave(merges_[node - p].right, cluster, density, p);
            return;
        }
        departures_.push_back({cluster, node, density});
        stability_[cluster] += density - birth_[cluster];
    }

    // The clusters with the largest sum of stabilities (excess of mass), and the rows of each.
    std::int32_t label(std::int32_t* labels) {
        const auto count = static_cast<std::int32_t>(above_.size());
        below_.assign(static_cast<std::size_t>(count), 0.0);
        chosen_.assign(static_cast<std::size_t>(count), -1);
        for (std::int32_t c = count - 1; c >= 0; --c) {
            if (below_[c] <= stability_[c]) chosen_[c] = c;
            if (c > 0) below_[above_[c]] += std::max(below_[c], stability_[c]);
        }
        std::int32_t found = 0;
        numbers_.assign(static_cast<std::size_t>(count), -1);
        for (std::int32_t c = 0; c < count; ++c) {
            if (c > 0 && chosen_[above_[c]] >= 0) chosen_[c] = chosen_[above_[c]];
            if (chosen_[c] == c) numbers_[c] = found++;
        }
        double densest = 0;  // of departures from the whole: if it is the one cluster, earlier ones are noise
        for (const Departure& each : departures_)
            if (each.cluster == 0) densest = std::max(densest, each.density);
        for (const Departure& each : departures_) {
            const std::int32_t cluster = each.row < 0 ? -1 : chosen_[each.cluster];
            if (cluster > 0 || (cluster == 0 && each.density >= densest)) labels[each.row] = numbers_[cluster];
        }
        return found;
    }

    std::vector<float> core_, row_;
    std::vector<std::int32_t> nearest_, outside_, parent_, above_, chosen_, numbers_;
    std::vector<Edge> edges_;
    std::vector<Merge> merges_;
    std::vector<double> birth_, stability_, below_;
    std::vector<Departure> departures_;
    std::vector<std::pair<std::int32_t, std::int32_t>> queue_;
};

}  // namespace lowdim
