// Stochastic gradient descent on stress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/round_robin.hpp"
#include "dispatch/kernels.hpp"
#include "mds/distances.hpp"

namespace lowdim {

// Rows of data and how far they are apart, or a table of distances (metric below zero).
template <class T>
struct Meeting {
    RowBlock<T> x;
    Measure how;
    const std::int32_t* order;  // the points, shuffled; party p is order[p size] …
    std::int64_t size;
    std::int64_t k;
    T rate;
};

// One round: each party meets one other, (n, k) coordinates change in place. Returns Σ (δ - d)² as met.
template <class T>
double meeting_round(const Meeting<T>& meeting, std::int64_t round, T* y, const Crew& crew) {
    const std::int64_t n = meeting.x.rows, k = meeting.k, size = meeting.size, parties = blocks_of(n, size);
    const std::int64_t teams = parties + parties % 2;
    std::vector<double> sums(static_cast<std::size_t>(teams / 2), 0.0);
    parallel_blocks(teams / 2, crew, [&](std::int64_t table) {
        const auto [a, b] = tournament_match(teams, round % (teams - 1), table);
        if (a >= parties || b >= parties) return;  // the other one does not exist: sit out
        std::vector<T> coordinates(static_cast<std::size_t>(2 * k * size), T(0));
        std::vector<T> targets(static_cast<std::size_t>(size * size), T(-1));
        const std::int64_t sides[2] = {a, b};
        std::int64_t counts[2];
        for (int side = 0; side < 2; ++side) {
            counts[side] = std::min(size, n - sides[side] * size);
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    coordinates[static_cast<std::size_t>((side * k + c) * size + i)] = y[meeting.order[sides[side] * size + i] * k + c];
        }
        const std::int64_t d = meeting.x.columns;
        std::vector<T> others, distances(static_cast<std::size_t>(size));
        if (meeting.how.metric >= 0) {  // side by side, because each is read for every row of the other party
            others.resize(static_cast<std::size_t>(size * d));
            for (std::int64_t j = 0; j < counts[1]; ++j) {
                const T* row = meeting.x.row(meeting.order[b * size + j]);
                std::copy(row, row + d, others.data() + j * d);
            }
        }
        const std::int64_t close = close_rows<T>(d);
        for (std::int64_t first = 0; first < counts[1]; first += close) {
            const std::int64_t count = std::min(close, counts[1] - first);
            for (std::int64_t i = 0; i < counts[0]; ++i) {
                const T* row = meeting.x.row(meeting.order[a * size + i]);
                if (meeting.how.metric >= 0) {
                    kernels().smacof.of<T>().measure[meeting.how.metric](row, {others.data() + first * d, count, d, d}, meeting.how.root,
                                                                         static_cast<T>(meeting.how.scale), distances.data());
                } else {
                    for (std::int64_t j = 0; j < count; ++j) {
                        const double given = static_cast<double>(row[meeting.order[b * size + first + j]]) * meeting.how.scale;
                        distances[static_cast<std::size_t>(j)] = given >= 0 ? static_cast<T>(given) : T(-1);  // NaN: not known
                    }
                }
                for (std::int64_t j = 0; j < count; ++j)
                    targets[static_cast<std::size_t>((first + j - i + size) % size * size + i)] = distances[static_cast<std::size_t>(j)];
            }
        }
        sums[static_cast<std::size_t>(table)] = kernels().smacof.of<T>().meet(
            coordinates.data(), coordinates.data() + k * size, targets.data(), size, k, meeting.rate);
        for (int side = 0; side < 2; ++side)
            for (std::int64_t i = 0; i < counts[side]; ++i)
                for (std::int64_t c = 0; c < k; ++c)
                    y[meeting.order[sides[side] * size + i] * k + c] = coordinates[static_cast<std::size_t>((side * k + c) * size + i)];
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace lowdim
