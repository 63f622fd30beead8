// An octree over points in space: points sorted along a Morton curve, so that every node is a stretch of them.
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

struct CurvePoint {
    std::uint64_t code;
    std::int32_t row;
};

// The 21 bits of x, two zeros after each.
inline std::uint64_t every_third(std::uint64_t x) {
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

// By counting, digit after digit; equal codes keep their order.
inline void sort_by_code(std::vector<CurvePoint>& points) {
    constexpr int bits = 11, digits = 6, values = 1 << bits;
    std::vector<std::size_t> counts(static_cast<std::size_t>(digits) * values);
    const auto digit = [](const CurvePoint& point, int d) { return static_cast<std::size_t>(point.code >> (d * bits) & (values - 1)); };
    for (const auto& point : points)
        for (int d = 0; d < digits; ++d) ++counts[static_cast<std::size_t>(d) * values + digit(point, d)];
    std::vector<CurvePoint> sorted(points.size());
    for (int d = 0; d < digits; ++d) {
        std::size_t* places = counts.data() + static_cast<std::size_t>(d) * values;
        if (places[digit(points[0], d)] == points.size()) continue;  // all have the same digit
        std::size_t at = 0;
        for (int v = 0; v < values; ++v) at += std::exchange(places[v], at);
        for (const auto& point : points) sorted[places[digit(point, d)]++] = point;
        points.swap(sorted);
    }
}

class Octree {
  public:
    static constexpr std::int64_t leaf_points = 16;
    static constexpr std::int64_t group_points = 48;  // points that look at the tree together

    Octree(const float* y, std::int64_t n, const Crew& crew)
        : n_(n), codes_(static_cast<std::size_t>(n)), order_(codes_.size()), axes_(3 * codes_.size()) {
        sort(y, crew);
        if (crew.stopped()) return;
        grow(0, n, false);
        const Tree tree = view(0, 0);
        parallel_ranges(static_cast<std::int64_t>(nodes_.size()), 64, crew, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) kernels().tsne.tree.measure_node(tree, nodes_[i]);
        });
    }

    Tree view(float opening, float grain) const {
        return {nodes_.data(), static_cast<std::int64_t>(nodes_.size()), axes_.data(), n_, opening, grain};
    }

    const std::int32_t* order() const { return order_.data(); }

    // Stretches of points that lie together.
    const std::vector<std::pair<std::int64_t, std::int64_t>>& groups() const { return groups_; }

    // Room for one thread.
    std::size_t scratch_size() const { return 3 * codes_.size() + 10 * nodes_.size(); }
    TreeScratch scratch(float* room) const { return {room, room + 3 * codes_.size()}; }

  private:
    void sort(const float* y, const Crew& crew) {
        float low[3] = {y[0], y[1], y[2]}, high[3] = {y[0], y[1], y[2]};
        for (std::int64_t i = 0; i < 3 * n_; ++i) {
            low[i % 3] = std::min(low[i % 3], y[i]);
            high[i % 3] = std::max(high[i % 3], y[i]);
        }
        double span = 0;
        for (int a = 0; a < 3; ++a) span = std::max(span, static_cast<double>(high[a]) - static_cast<double>(low[a]));
        const double largest = (1 << 21) - 1, scale = span > 0 ? largest / span : 0;
        std::vector<CurvePoint> points(codes_.size());
        const auto over = [&](const auto& body) {
            parallel_ranges(n_, 1 << 12, crew, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) body(i);
            });
        };
        over([&](std::int64_t i) {
            std::uint64_t code = 0;
            for (int a = 0; a < 3; ++a) {
                const double at = (static_cast<double>(y[3 * i + a]) - static_cast<double>(low[a])) * scale;
                code |= every_third(at > 0 ? static_cast<std::uint64_t>(std::min(at, largest)) : 0) << a;  // NaN counts as 0
            }
            points[i] = {code, static_cast<std::int32_t>(i)};
        });
        if (crew.stopped()) return;
        sort_by_code(points);
        over([&](std::int64_t i) {
            codes_[i] = points[i].code;
            order_[i] = points[i].row;
            for (int a = 0; a < 3; ++a) axes_[a * n_ + i] = y[3 * static_cast<std::int64_t>(points[i].row) + a];
        });
    }

    // Adds the node of points begin … end and all below it; `inside`: it belongs to a group already.
    void grow(std::int64_t begin, std::int64_t end, bool inside) {
        const std::size_t self = nodes_.size();
        TreeNode node = {};
        node.begin = static_cast<std::int32_t>(begin);
        node.end = static_cast<std::int32_t>(end);
        nodes_.push_back(node);
        const std::uint64_t differ = codes_[begin] ^ codes_[end - 1];
        const bool leaf = end - begin <= leaf_points || differ == 0;
        if (!inside && (leaf || end - begin <= group_points)) {
            groups_.emplace_back(begin, end);
            inside = true;
        }
        if (!leaf) {
            const int shift = (63 - std::countl_zero(differ)) / 3 * 3;  // the first digit in which they differ
            for (std::int64_t at = begin; at < end;) {
                const std::uint64_t digit = codes_[at] >> shift;
                const auto first = codes_.begin();
                const auto stop = std::partition_point(first + at, first + end, [&](std::uint64_t code) { return code >> shift == digit; });
                grow(at, stop - first, inside);
                at = stop - first;
            }
        }
        nodes_[self].next = static_cast<std::int32_t>(nodes_.size());
    }

    std::int64_t n_;
    std::vector<std::uint64_t> codes_;
    std::vector<std::int32_t> order_;
    std::vector<float> axes_;
    std::vector<TreeNode> nodes_;
    std::vector<std::pair<std::int64_t, std::int64_t>> groups_;
};

// What acts on one place, a room for every thread.
class TreeRooms {
  public:
    TreeRooms(const Octree& tree, const Crew& crew) : tree_(tree), rooms_(static_cast<std::size_t>(crew.threads)) {}

    TreeScratch mine() {
        auto& room = rooms_[static_cast<std::size_t>(thread_index())];
        if (room.empty()) room.resize(tree_.scratch_size());
        return tree_.scratch(room.data());
    }

  private:
    const Octree& tree_;
    std::vector<std::vector<float>> rooms_;
};

}  // namespace lowdim
