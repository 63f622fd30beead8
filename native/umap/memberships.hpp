// From distances to UMAP's fuzzy simplicial set: rho and sigma of each row, memberships of its neighbors, and the fuzzy set
// operation that combines both directions of an edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace lowdim {

struct SmoothKnnInput {
    const float* distances;  // (n, k), ascending; a row is not in its own list
    std::int64_t n;
    std::int64_t k;
    double target;              // the sum of a row's memberships
    double local_connectivity;  // this many neighbors have membership one
    double mean_distance;       // over all rows: sigma is at least 1e-3 of a row's mean distance or, if its rho is 0, of this one
};

constexpr double min_sigma_scale = 1e-3;

// Rho, the distance up to which the membership is one: the local_connectivity-th positive distance, interpolated.
inline double rho_of(const float* distances, std::int64_t k, double connectivity) {
    std::int64_t zeros = 0;
    while (zeros < k && distances[zeros] <= 0) ++zeros;
    const float* positive = distances + zeros;
    const std::int64_t count = k - zeros;
    if (count == 0) return 0;
    if (static_cast<double>(count) < connectivity) return positive[count - 1];
    const auto nearest = static_cast<std::int64_t>(connectivity);
    const double fraction = connectivity - static_cast<double>(nearest);
    if (nearest == 0) return fraction * positive[0];
    double rho = positive[nearest - 1];
    if (fraction > 1e-5 && nearest < count) rho += fraction * (static_cast<double>(positive[nearest]) - positive[nearest - 1]);
    return rho;
}

inline double membership_sum(const float* distances, std::int64_t k, double rho, double sigma) {
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        const double excess = distances[j] - rho;
        sum += excess > 0 ? std::exp(-excess / sigma) : 1.0;
    }
    return sum;
}

// Sigma, for which Σ exp(-max(0, d - rho) / sigma) is the target, by bisection.
inline double sigma_of(const float* distances, const SmoothKnnInput& all, double rho) {
    double low = 0, high = std::numeric_limits<double>::infinity(), sigma = 1, mean = 0;
    for (std::int64_t j = 0; j < all.k; ++j) mean += distances[j];
    mean /= static_cast<double>(all.k + 1);  // the row itself counts, at distance zero
    if (mean > 0) sigma = mean;              // an initial value in the units of the data
    for (int step = 0; step < 64; ++step) {
        const double sum = membership_sum(distances, all.k, rho, sigma);
        if (std::abs(sum - all.target) < 1e-5) break;
        if (sum > all.target) {
            high = sigma;
        } else {
            low = sigma;
        }
        sigma = std::isinf(high) ? 2 * sigma : (low + high) / 2;
    }
    if (std::isinf(sigma)) sigma = mean;
    return std::max(sigma, min_sigma_scale * (rho > 0 ? mean : all.mean_distance));
}

inline void smooth_knn_rows(const SmoothKnnInput& all, std::int64_t begin, std::int64_t end, float* rhos, float* sigmas, float* weights) {
    for (std::int64_t i = begin; i < end; ++i) {
        const float* distances = all.distances + i * all.k;
        const double rho = rho_of(distances, all.k, all.local_connectivity);
        const double sigma = sigma_of(distances, all, rho);
        rhos[i] = static_cast<float>(rho);
        sigmas[i] = static_cast<float>(sigma);
        for (std::int64_t j = 0; j < all.k; ++j) {
            const double excess = distances[j] - rho;
            weights[i * all.k + j] = static_cast<float>(excess <= 0 || sigma == 0 ? 1.0 : std::exp(-excess / sigma));
        }
    }
}

// One direction of an edge.
struct Membership {
    float weight = 0;
    float length = 0;
};

// Combines both directions: mix (v + w - v w) + (1 - mix) v w, from fuzzy union to intersection. False if nothing remains.
inline bool fuzzy_set_operation(const Membership& own, const Membership& reverse, double set_op_mix_ratio, Membership& combined) {
    const double v = own.weight, w = reverse.weight;
    combined.weight = static_cast<float>(set_op_mix_ratio * (v + w - v * w) + (1 - set_op_mix_ratio) * v * w);
    combined.length = std::max(own.length, reverse.length);
    return combined.weight > 0;
}

}  // namespace lowdim
