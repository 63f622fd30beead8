// Spearman's correlation of weighted pairs, for many sets of weights: the replicates of a bootstrap over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace lowdim {

// Pairs by their order in two spaces. Ties are a group, whose rank is the mean of its places.
struct OrderedPairs {
    const std::int32_t *rows, *first, *second;  // (p,) the row that a pair starts from, its group in either space
    std::int64_t count, first_groups, second_groups;
};

// Ranks of groups less their mean, which is half the weight of all pairs.
inline void centered_ranks(const OrderedPairs& pairs, const std::int32_t* groups, const double* weights, std::vector<double>& ranks) {
    std::fill(ranks.begin(), ranks.end(), 0.0);
    for (std::int64_t p = 0; p < pairs.count; ++p) ranks[groups[p]] += weights[pairs.rows[p]];
    double total = 0;
    for (double& rank : ranks) {
        const double size = rank;
        rank = total + size / 2;
        total += size;
    }
    for (double& rank : ranks) rank -= total / 2;
}

// The correlation for each of b sets of weights of the s rows, (b, s); 0 if all pairs of a space are equal.
inline void rank_correlations(const OrderedPairs& pairs, const double* weights, std::int64_t b, std::int64_t s, double* out,
                              const ThreadTeam& team) {
    parallel_ranges(b, 4, team, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> first(static_cast<std::size_t>(pairs.first_groups)), second(static_cast<std::size_t>(pairs.second_groups));
        for (std::int64_t i = begin; i < end && !team.stopped(); ++i) {
            const double* own = weights + i * s;
            centered_ranks(pairs, pairs.first, own, first);
            centered_ranks(pairs, pairs.second, own, second);
            double uu = 0, uv = 0, vv = 0;
            for (std::int64_t p = 0; p < pairs.count; ++p) {
                const double w = own[pairs.rows[p]], u = first[pairs.first[p]], v = second[pairs.second[p]];
                uu += w * u * u;
                uv += w * u * v;
                vv += w * v * v;
            }
            const double norm = std::sqrt(uu * vv);
            out[i] = norm > 0 ? uv / norm : 0.0;
        }
    });
}

}  // namespace lowdim
