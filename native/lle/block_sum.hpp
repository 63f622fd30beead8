// The sum of small matrices, one per patch, in compressed sparse rows. A row of the sum has one owner, which adds the patches
// in order: bit-identical for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace lowdim {

// (n, p) members of the patches, one patch per row.
struct Patches {
    const std::int32_t* members;
    std::int64_t n;
    std::int64_t p;
};

// For every row, its entries (patch p + position) in the patches, by patch.
class PatchIndex {
  public:
    explicit PatchIndex(const Patches& patches) : starts(patches.n + 1, 0), entries(patches.n * patches.p) {
        const std::int64_t total = patches.n * patches.p;
        for (std::int64_t e = 0; e < total; ++e) ++starts[patches.members[e] + 1];
        for (std::int64_t i = 0; i < patches.n; ++i) starts[i + 1] += starts[i];
        std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
        for (std::int64_t e = 0; e < total; ++e) entries[next[patches.members[e]]++] = e;
    }

    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> entries;
};

constexpr std::int64_t block_sum_rows = 64;  // rows per block of work

// counts[a] is the number of rows that share a patch with row a.
inline void block_sum_counts(const Patches& patches, std::int32_t* counts, const ThreadTeam& team) {
    const PatchIndex index(patches);
    std::vector<std::vector<std::int64_t>> last_rows(team.threads);
    parallel_ranges(patches.n, block_sum_rows, team, [&](std::int64_t begin, std::int64_t end) {
        auto& last_row = last_rows[thread_index()];
        if (last_row.empty()) last_row.assign(patches.n, -1);
        for (std::int64_t a = begin; a < end; ++a) {
            std::int32_t count = 0;
            for (std::int64_t e = index.starts[a]; e < index.starts[a + 1]; ++e) {
                const std::int32_t* members = patches.members + index.entries[e] / patches.p * patches.p;
                for (std::int64_t b = 0; b < patches.p; ++b)
                    if (last_row[members[b]] != a) {
                        last_row[members[b]] = a;
                        ++count;
                    }
            }
            counts[a] = count;
        }
    });
}

// Columns ascend in every row; `starts` are the running sums of the counts.
inline void block_sum(const Patches& patches, const double* blocks, const std::int32_t* starts, std::int32_t* columns, double* values,
                      const ThreadTeam& team) {
    const PatchIndex index(patches);
    std::vector<std::vector<double>> sums(team.threads);
    std::vector<std::vector<std::int64_t>> last_rows(team.threads);
    parallel_ranges(patches.n, block_sum_rows, team, [&](std::int64_t begin, std::int64_t end) {
        auto& sum = sums[thread_index()];
        auto& last_row = last_rows[thread_index()];
        if (last_row.empty()) {
            last_row.assign(patches.n, -1);
            sum.assign(patches.n, 0.0);
        }
        for (std::int64_t a = begin; a < end; ++a) {
            std::int32_t* found = columns + starts[a];
            for (std::int64_t e = index.starts[a]; e < index.starts[a + 1]; ++e) {
                const std::int64_t entry = index.entries[e];
                const std::int32_t* members = patches.members + entry / patches.p * patches.p;
                const double* row = blocks + entry * patches.p;  // row (patch p + position) of the blocks
                for (std::int64_t b = 0; b < patches.p; ++b) {
                    const std::int32_t column = members[b];
                    if (last_row[column] != a) {
                        last_row[column] = a;
                        sum[column] = 0;
                        *found++ = column;
                    }
                    sum[column] += row[b];
                }
            }
            std::sort(columns + starts[a], found);
            for (std::int32_t e = starts[a]; e < starts[a + 1]; ++e) values[e] = sum[columns[e]];
        }
    });
}

}  // namespace lowdim
