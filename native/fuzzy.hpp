// From distances to a fuzzy graph: how wide each row's neighbourhood is, how much each neighbour belongs to it, and
// the symmetric graph that both views make.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace lowdim {

struct Neighborhoods {
    const float* distances;  // (n, k), ascending; a row is not among its own
    std::int64_t n;
    std::int64_t k;
    double target;              // the memberships of a row sum to this
    double local_connectivity;  // so many neighbours belong wholly
    double floor_everywhere;    // a width is at least 1e-3 of the mean distance, of the row or, where it has none, of all
};

constexpr double narrowest = 1e-3;

// The distance up to which neighbours belong wholly: the local_connectivity-th distance above zero, interpolated.
inline double core_distance(const float* distances, std::int64_t k, double connectivity) {
    std::int64_t zeros = 0;
    while (zeros < k && distances[zeros] <= 0) ++zeros;
    const float* positive = distances + zeros;
    const std::int64_t count = k - zeros;
    if (count == 0) return 0;
    if (static_cast<double>(count) < connectivity) return positive[count - 1];
    const auto whole = static_cast<std::int64_t>(connectivity);
    const double part = connectivity - static_cast<double>(whole);
    if (whole == 0) return part * positive[0];
    double core = positive[whole - 1];
    if (part > 1e-5 && whole < count) core += part * (static_cast<double>(positive[whole]) - positive[whole - 1]);
    return core;
}

inline double memberships(const float* distances, std::int64_t k, double core, double width) {
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        const double beyond = distances[j] - core;
        sum += beyond > 0 ? std::exp(-beyond / width) : 1.0;
    }
    return sum;
}

// The width at which Σ exp(-max(0, d - core) / width) is the target, by bisection.
inline double width_of(const float* distances, const Neighborhoods& all, double core) {
    double low = 0, high = std::numeric_limits<double>::infinity(), width = 1, mean = 0;
    for (std::int64_t j = 0; j < all.k; ++j) mean += distances[j];
    mean /= static_cast<double>(all.k + 1);  // the row itself counts, at distance zero
    if (mean > 0) width = mean;              // a start in the units of the data
    for (int step = 0; step < 64; ++step) {
        const double sum = memberships(distances, all.k, core, width);
        if (std::abs(sum - all.target) < 1e-5) break;
        if (sum > all.target) {
            high = width;
        } else {
            low = width;
        }
        width = std::isinf(high) ? 2 * width : (low + high) / 2;
    }
    if (std::isinf(width)) width = mean;
    return std::max(width, narrowest * (core > 0 ? mean : all.floor_everywhere));
}

inline void smooth_rows(const Neighborhoods& all, std::int64_t begin, std::int64_t end, float* cores, float* widths, float* weights) {
    for (std::int64_t i = begin; i < end; ++i) {
        const float* distances = all.distances + i * all.k;
        const double core = core_distance(distances, all.k, all.local_connectivity);
        const double width = width_of(distances, all, core);
        cores[i] = static_cast<float>(core);
        widths[i] = static_cast<float>(width);
        for (std::int64_t j = 0; j < all.k; ++j) {
            const double beyond = distances[j] - core;
            weights[i * all.k + j] = static_cast<float>(beyond <= 0 || width == 0 ? 1.0 : std::exp(-beyond / width));
        }
    }
}

// A directed graph, row by row, of weights and lengths.
struct Arrows {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* weights;
    const float* lengths;
    std::int64_t n;
};

struct Symmetric {
    std::int64_t* starts;
    std::int32_t* columns;
    float* weights;
    float* lengths;
};

// Both views of an edge become one: mix (v + w - v w) + (1 - mix) v w. Columns ascend; returns the number of entries.
inline std::int64_t symmetrize(const Arrows& a, double mix, const Symmetric& out) {
    struct Arrow {
        std::int32_t column;
        float weight;
        float length;
    };
    std::vector<std::int64_t> back_starts(static_cast<std::size_t>(a.n) + 1, 0);
    for (std::int64_t p = 0; p < a.starts[a.n]; ++p) ++back_starts[static_cast<std::size_t>(a.columns[p]) + 1];
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.n); ++i) back_starts[i + 1] += back_starts[i];
    std::vector<Arrow> back(static_cast<std::size_t>(a.starts[a.n])), forth;
    std::vector<std::int64_t> next(back_starts.begin(), back_starts.end() - 1);
    for (std::int64_t i = 0; i < a.n; ++i)
        for (std::int64_t p = a.starts[i]; p < a.starts[i + 1]; ++p)
            back[static_cast<std::size_t>(next[static_cast<std::size_t>(a.columns[p])]++)] = {static_cast<std::int32_t>(i), a.weights[p], a.lengths[p]};
    std::int64_t count = 0;
    out.starts[0] = 0;
    for (std::int64_t i = 0; i < a.n; ++i) {
        forth.clear();
        for (std::int64_t p = a.starts[i]; p < a.starts[i + 1]; ++p) forth.push_back({a.columns[p], a.weights[p], a.lengths[p]});
        std::sort(forth.begin(), forth.end(), [](const Arrow& x, const Arrow& y) { return x.column < y.column; });
        const Arrow *f = forth.data(), *f_end = f + forth.size();
        const Arrow *b = back.data() + back_starts[static_cast<std::size_t>(i)], *b_end = back.data() + back_starts[static_cast<std::size_t>(i) + 1];
        while (f != f_end || b != b_end) {
            const std::int32_t column = b == b_end || (f != f_end && f->column < b->column) ? f->column : b->column;
            double v = 0, w = 0;
            float length = 0;
            if (f != f_end && f->column == column) v = f->weight, length = std::max(length, f->length), ++f;
            if (b != b_end && b->column == column) w = b->weight, length = std::max(length, b->length), ++b;
            const double weight = mix * (v + w - v * w) + (1 - mix) * v * w;
            if (static_cast<float>(weight) <= 0) continue;
            out.columns[count] = column;
            out.weights[count] = static_cast<float>(weight);
            out.lengths[count++] = length;
        }
        out.starts[i + 1] = count;
    }
    return count;
}

// A 64-bit mark of a row's values: equal rows have equal marks (0 and -0 are equal).
template <class T>
std::uint64_t mark_of(const T* row, std::int64_t d) {
    std::uint64_t part[4] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x27D4EB2F165667C5u};
    for (std::int64_t j = 0; j < d; ++j) {
        const double value = static_cast<double>(row[j]) + 0.0;
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        std::uint64_t& mine = part[j & 3];
        mine = (mine ^ bits) * 0x9FB21C651E98DF25u;
        mine ^= mine >> 29;
    }
    std::uint64_t out = static_cast<std::uint64_t>(d);
    for (const std::uint64_t p : part) {
        out = (out ^ p) * 0xD6E8FEB86659FD93u;
        out ^= out >> 32;
    }
    return out;
}

}  // namespace lowdim
