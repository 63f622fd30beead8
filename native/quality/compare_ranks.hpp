// What the ranks of all rows in two spaces say of one of them: the sums behind trustworthiness, continuity, Q_NX, R_NX and MRRE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/parallel.hpp"
#include "quality/rank_rows.hpp"

namespace lowdim {

struct RankWeights {
    std::int64_t n, k;
    const double* weights;   // (n,) of the larger of both ranks
    const std::int64_t* ks;  // (g,) ascending, below n
    std::int64_t g;
};

constexpr int rank_sums = 6;  // those of `compare_ranks` in quality/_rank_comparison.py

inline void compare_row(const std::int32_t* ranks, const std::int32_t* drawn, const RankWeights& scale, std::int32_t* within, double* sums,
                        std::int64_t* counts) {
    std::fill_n(within, scale.n, 0);
    std::int64_t excess = 0, missing = 0, shared = 0;
    double false_error = 0, missing_error = 0;
    for (std::int64_t j = 0; j < scale.n; ++j) {
        const std::int64_t rank = ranks[j], place = drawn[j];
        ++within[std::max(rank, place)];
        const bool is_near = rank <= scale.k && rank > 0, is_drawn = place <= scale.k && place > 0;
        if (is_drawn) {
            excess += std::max<std::int64_t>(rank - scale.k, 0);
            false_error += static_cast<double>(std::abs(rank - place)) / static_cast<double>(place);
        }
        if (is_near) {
            missing += std::max<std::int64_t>(place - scale.k, 0);
            missing_error += static_cast<double>(std::abs(rank - place)) / static_cast<double>(rank);
        }
        shared += is_near && is_drawn;
    }
    double weight = 0;
    std::int64_t total = 0, at = 0;
    for (std::int64_t rank = 1; rank < scale.n; ++rank) {  // rank 0 is the row itself
        weight += within[rank] * scale.weights[rank];
        total += within[rank];
        while (at < scale.g && scale.ks[at] == rank) counts[at++] = total;
    }
    const double found[rank_sums] = {static_cast<double>(excess), static_cast<double>(missing), static_cast<double>(shared), weight,
                                     false_error, missing_error};
    std::copy_n(found, rank_sums, sums);
}

// Of each of b rows: its sums (b, 6), and how many others are within K neighbors in both spaces (b, g).
inline void compare_ranks(const std::int32_t* ranks, const std::int32_t* drawn, std::int64_t b, const RankWeights& scale, double* sums,
                          std::int64_t* counts, const ThreadTeam& team) {
    parallel_ranges(b, rows_per_ranking, team, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int32_t> within(static_cast<std::size_t>(scale.n));
        for (std::int64_t i = begin; i < end && !team.stopped(); ++i)
            compare_row(ranks + i * scale.n, drawn + i * scale.n, scale, within.data(), sums + i * rank_sums, counts + i * scale.g);
    });
}

// Σ d², Σ d δ and Σ δ² of each of b rows over all others, (b, 3). Eight sums run side by side and are added in a fixed order.
template <class T, class U>
void squared_sums(const T* distances, const U* drawn, const std::int32_t* own, std::int64_t b, std::int64_t n, double* out,
                  const ThreadTeam& team) {
    constexpr int lanes = 8;
    parallel_ranges(b, rows_per_ranking, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            double sums[3][lanes] = {};
            const auto add = [&](std::int64_t j, int lane) {
                const double d = static_cast<double>(distances[i * n + j]), flat = static_cast<double>(drawn[i * n + j]);
                sums[0][lane] += d * d;
                sums[1][lane] += d * flat;
                sums[2][lane] += flat * flat;
            };
            const auto add_all = [&](std::int64_t first, std::int64_t last) {
                for (; first + lanes <= last; first += lanes)
                    for (int lane = 0; lane < lanes; ++lane) add(first + lane, lane);
                for (; first < last; ++first) add(first, 0);
            };
            add_all(0, own[i]);
            add_all(own[i] + 1, n);
            for (int part = 0; part < 3; ++part) {
                out[i * 3 + part] = 0;
                for (const double sum : sums[part]) out[i * 3 + part] += sum;
            }
        }
    });
}

}  // namespace lowdim
