// An octree over points in three dimensions: points are sorted along a Morton curve, so that every node is a range of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

struct MortonPoint {
    std::uint64_t code;
    std::int32_t row;
};

// The 21 bits of x, each followed by two zeros.
inline std::uint64_t interleave_bits(std::uint64_t x) {
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

// Radix sort; equal codes keep their order.
inline void sort_by_code(std::vector<MortonPoint>& points) {
    constexpr int bits = 11, digits = 6, values = 1 << bits;
    std::vector<std::size_t> counts(static_cast<std::size_t>(digits) * values);
    const auto digit = [](const MortonPoint& point, int d) { return static_cast<std::size_t>(point.code >> (d * bits) & (values - 1)); };
    for (const auto& point : points)
        for (int d = 0; d < digits; ++d) ++counts[static_cast<std::size_t>(d) * values + digit(point, d)];
    std::vector<MortonPoint> sorted(points.size());
    for (int d = 0; d < digits; ++d) {
        std::size_t* offsets = counts.data() + static_cast<std::size_t>(d) * values;
        if (offsets[digit(points[0], d)] == points.size()) continue;  // all have the same digit
        std::size_t at = 0;
        for (int v = 0; v < values; ++v) at += std::exchange(offsets[v], at);
        for (const auto& point : points) sorted[offsets[digit(point, d)]++] = point;
        points.swap(sorted);
    }
}

class Octree {
  public:
    static constexpr std::int64_t leaf_points = 16;
    static constexpr std::int64_t group_points = 48;  // points that share one traversal of the tree

    Octree(const float* y, std::int64_t n, const ThreadTeam& team)
        : n_(n), codes_(static_cast<std::size_t>(n)), order_(codes_.size()), axes_(3 * codes_.size()) {
        sort(y, team);
        if (team.stopped()) return;
        add_subtree(0, n, false);
        const OctreeView tree = view(0, 0);
        parallel_ranges(static_cast<std::int64_t>(nodes_.size()), 64, team, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) kernels().tsne.barnes_hut.summarize_node(tree, nodes_[i]);
        });
    }

    OctreeView view(float opening, float min_extent) const {
        return {nodes_.data(), static_cast<std::int64_t>(nodes_.size()), axes_.data(), n_, opening, min_extent};
    }

    const std::int32_t* order() const { return order_.data(); }

    // Ranges of points that are close together.
    const std::vector<std::pair<std::int64_t, std::int64_t>>& groups() const { return groups_; }

    // The scratch size for one thread.
    std::size_t scratch_size() const { return 3 * codes_.size() + 10 * nodes_.size(); }
    TreeScratch scratch(float* memory) const { return {memory, memory + 3 * codes_.size()}; }

  private:
    void sort(const float* y, const ThreadTeam& team) {
        float low[3] = {y[0], y[1], y[2]}, high[3] = {y[0], y[1], y[2]};
        for (std::int64_t i = 0; i < 3 * n_; ++i) {
            low[i % 3] = std::min(low[i % 3], y[i]);
            high[i % 3] = std::max(high[i % 3], y[i]);
        }
        double span = 0;
        for (int a = 0; a < 3; ++a) span = std::max(span, static_cast<double>(high[a]) - static_cast<double>(low[a]));
        const double largest = (1 << 21) - 1, scale = span > 0 ? largest / span : 0;
        std::vector<MortonPoint> points(codes_.size());
        const auto over = [&](const auto& body) {
            parallel_ranges(n_, 1 << 12, team, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) body(i);
            });
        };
        over([&](std::int64_t i) {
            std::uint64_t code = 0;
            for (int a = 0; a < 3; ++a) {
                const double at = (static_cast<double>(y[3 * i + a]) - static_cast<double>(low[a])) * scale;
                code |= interleave_bits(at > 0 ? static_cast<std::uint64_t>(std::min(at, largest)) : 0) << a;  // NaN counts as 0
            }
            points[i] = {code, static_cast<std::int32_t>(i)};
        });
        if (team.stopped()) return;
        sort_by_code(points);
        over([&](std::int64_t i) {
            codes_[i] = points[i].code;
            order_[i] = points[i].row;
            for (int a = 0; a < 3; ++a) axes_[a * n_ + i] = y[3 * static_cast<std::int64_t>(points[i].row) + a];
        });
    }

    // Adds the node of points begin … end and its subtree; `in_group`: an ancestor is a group already.
    void add_subtree(std::int64_t begin, std::int64_t end, bool in_group) {
        const std::size_t self = nodes_.size();
        OctreeNode node = {};
        node.begin = static_cast<std::int32_t>(begin);
        node.end = static_cast<std::int32_t>(end);
        nodes_.push_back(node);
        const std::uint64_t differ = codes_[begin] ^ codes_[end - 1];
        const bool leaf = end - begin <= leaf_points || differ == 0;
        if (!in_group && (leaf || end - begin <= group_points)) {
            groups_.emplace_back(begin, end);
            in_group = true;
        }
        if (!leaf) {
            const int shift = (63 - std::countl_zero(differ)) / 3 * 3;  // the first octal digit in which they differ
            for (std::int64_t at = begin; at < end;) {
                const std::uint64_t digit = codes_[at] >> shift;
                const auto first = codes_.begin();
                const auto stop = std::partition_point(first + at, first + end, [&](std::uint64_t code) { return code >> shift == digit; });
                add_subtree(at, stop - first, in_group);
                at = stop - first;
            }
        }
        nodes_[self].next = static_cast<std::int32_t>(nodes_.size());
    }

    std::int64_t n_;
    std::vector<std::uint64_t> codes_;
    std::vector<std::int32_t> order_;
    std::vector<float> axes_;
    std::vector<OctreeNode> nodes_;
    std::vector<std::pair<std::int64_t, std::int64_t>> groups_;
};

// Scratch for the sources that act on one point, one per thread.
class TreeScratchPool {
  public:
    TreeScratchPool(const Octree& tree, const ThreadTeam& team) : tree_(tree), scratch_(static_cast<std::size_t>(team.threads)) {}

    TreeScratch of_this_thread() {
        auto& memory = scratch_[static_cast<std::size_t>(thread_index())];
        if (memory.empty()) memory.resize(tree_.scratch_size());
        return tree_.scratch(memory.data());
    }

  private:
    const Octree& tree_;
    std::vector<std::vector<float>> scratch_;
};

}  // namespace lowdim
