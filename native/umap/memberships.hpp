// From distances to a fuzzy graph: how wide each row's neighbourhood is, how much each neighbour belongs to it, how both
// views of an edge become one; and the marks by which equal rows are found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

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

// What two rows say of the edge between them.
struct Membership {
    float weight = 0;
    float length = 0;
};

// Both views of an edge become one: mix (v + w - v w) + (1 - mix) v w. Says whether anything is left of it.
inline bool join_memberships(const Membership& own, const Membership& back, double mix, Membership& joined) {
    const double v = own.weight, w = back.weight;
    joined.weight = static_cast<float>(mix * (v + w - v * w) + (1 - mix) * v * w);
    joined.length = std::max(own.length, back.length);
    return joined.weight > 0;
}

}  // namespace lowdim
