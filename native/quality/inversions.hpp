// Inversions of a sequence, and from them the share of pairs that two rankings order alike.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "quality/rank_rows.hpp"

namespace lowdim {

// Pairs a before b with a > b. A radix sort from the highest digit down: two numbers are compared at the first digit where they
// differ, and the earlier numbers with a larger digit are counted for all 16 digits at once.
class InversionCounter {
  public:
    explicit InversionCounter(std::size_t most) : other_(most) {}

    // Sorts the values, all of them below `bound`.
    std::int64_t count(std::uint32_t* sequence, std::int64_t length, std::uint32_t bound) {
        const int bits = std::max(1, static_cast<int>(std::bit_width(bound)));
        return count(sequence, other_.data(), length, (bits - 1) / digit_bits * digit_bits);
    }

  private:
    static constexpr int digit_bits = 4, values = 1 << digit_bits;
    static constexpr std::int64_t few = 48;  // so many are compared pair by pair
    using Digits = std::array<std::uint32_t, values>;

    static constexpr std::array<Digits, values> below = [] {  // below[a][b]: whether b < a
        std::array<Digits, values> out{};
        for (std::uint32_t a = 0; a < values; ++a)
            for (std::uint32_t b = 0; b < values; ++b) out[a][b] = b < a;
        return out;
    }();

    static std::int64_t count_pairs(const std::uint32_t* sequence, std::int64_t length) {
        std::uint32_t found = 0;
        for (std::int64_t i = 1; i < length; ++i)
            for (std::int64_t j = 0; j < i; ++j) found += sequence[j] > sequence[i];
        return found;
    }

    std::int64_t count(std::uint32_t* sequence, std::uint32_t* other, std::int64_t length, int shift) {
        if (length <= few) return count_pairs(sequence, length);
        if (shift < 0) return 0;  // all are equal
        const auto digit_of = [&](std::uint32_t value) { return (value >> shift) & (values - 1); };
        Digits sizes{}, places{}, larger{};
        for (std::int64_t i = 0; i < length; ++i) ++sizes[digit_of(sequence[i])];
        for (int digit = 1; digit < values; ++digit) places[digit] = places[digit - 1] + sizes[digit - 1];
        std::int64_t found = 0;
        for (std::int64_t i = 0; i < length; ++i) {
            const std::uint32_t digit = digit_of(sequence[i]);
            found += larger[digit];
            for (int each = 0; each < values; ++each) larger[each] += below[digit][each];
            other[places[digit]++] = sequence[i];
        }
        for (int digit = 0; digit < values; ++digit) {
            const std::uint32_t begin = places[digit] - sizes[digit];
            found += count(other + begin, sequence + begin, sizes[digit], shift - digit_bits);
        }
        return found;
    }

    std::vector<std::uint32_t> other_;
};

// The share of pairs of `length` values in ascending order; 1/2, as by chance, if there is no pair.
inline double share_in_order(std::int64_t inversions, std::int64_t length) {
    const double pairs = 0.5 * static_cast<double>(length) * static_cast<double>(length - 1);
    return pairs > 0 ? 1 - static_cast<double>(inversions) / pairs : 0.5;
}

// Of each of b rows, the share of pairs of all n - 1 others that both rankings (b, n) order alike.
inline void concordance(const std::int32_t* a, const std::int32_t* b, std::int64_t rows, std::int64_t n, double* out, const ThreadTeam& team) {
    parallel_ranges(rows, rows_per_ranking, team, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint32_t> sequence(static_cast<std::size_t>(n));
        InversionCounter counter(sequence.size());
        for (std::int64_t i = begin; i < end && !team.stopped(); ++i) {
            for (std::int64_t j = 0; j < n; ++j) sequence[a[i * n + j]] = static_cast<std::uint32_t>(b[i * n + j]);
            // The row itself has rank 0 in both, and is part of no inversion.
            out[i] = share_in_order(counter.count(sequence.data(), n, static_cast<std::uint32_t>(n)), n - 1);
        }
    });
}

// The same of pairs of each row's `m` partners (b, m); one that is named twice counts once, and the row itself not at all.
inline void partner_concordance(const std::int32_t* a, const std::int32_t* b, const std::int32_t* partners, std::int64_t rows,
                                std::int64_t n, std::int64_t m, double* out, const ThreadTeam& team) {
    parallel_ranges(rows, rows_per_ranking, team, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint64_t> ranks;
        std::vector<std::uint32_t> sequence(static_cast<std::size_t>(m));
        InversionCounter counter(sequence.size());
        for (std::int64_t i = begin; i < end && !team.stopped(); ++i) {
            ranks.clear();
            for (std::int64_t p = 0; p < m; ++p) {
                const std::int64_t at = i * n + partners[i * m + p];
                if (a[at] > 0) ranks.push_back(static_cast<std::uint64_t>(a[at]) << 32 | static_cast<std::uint32_t>(b[at]));
            }
            std::sort(ranks.begin(), ranks.end());
            ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
            for (std::size_t p = 0; p < ranks.size(); ++p) sequence[p] = static_cast<std::uint32_t>(ranks[p]);
            const auto length = static_cast<std::int64_t>(ranks.size());
            out[i] = share_in_order(counter.count(sequence.data(), length, static_cast<std::uint32_t>(n)), length);
        }
    });
}

}  // namespace lowdim
