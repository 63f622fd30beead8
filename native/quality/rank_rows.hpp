// Ranks of all rows by their distance from one, by a stable radix sort: of equally near rows, the one with the smaller number is
// nearer.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace lowdim {

constexpr std::int64_t rows_per_ranking = 4;  // rows that share the memory of a sort

// Bits that are ordered as the numbers are, as unsigned integers; -0 is 0.
template <class T>
auto ordered_bits(T value) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(value + T{0});
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
}

// Sorts the rows 0 … n - 1 by their distances from one of them.
template <class T>
class RowSorter {
  public:
    explicit RowSorter(std::int64_t n) : n_(n), items_(n), other_(n) {}

    // Writes the ranks of all rows, 0 for the row `own` itself, and the numbers of the `k` nearest.
    void rank(const T* distances, std::int64_t own, std::int32_t* ranks, std::int64_t k, std::int32_t* nearest) {
        read(distances, own);
        for (int digit = 0; digit < digits; ++digit) sort_by(digit);
        for (std::int64_t place = 0; place < n_; ++place) ranks[items_[place].row] = static_cast<std::int32_t>(place);
        for (std::int64_t place = 0; place < k; ++place) nearest[place] = items_[place + 1].row;
    }

  private:
    using Bits = decltype(ordered_bits(T{}));
    static constexpr int digit_bits = 11, digits = (8 * sizeof(T) + digit_bits - 1) / digit_bits;
    static constexpr std::size_t values = std::size_t{1} << digit_bits;

    struct Item {
        Bits key;
        std::int32_t row;
    };

    static std::size_t digit_of(Bits key, int digit) { return (key >> (digit * digit_bits)) & (values - 1); }

    // The row itself goes first, with the smallest key: a stable sort leaves it there.
    void read(const T* distances, std::int64_t own) {
        for (auto& count : counts_) count.fill(0);
        std::int64_t at = 0;
        const auto add = [&](Bits key, std::int64_t row) {
            items_[at++] = {key, static_cast<std::int32_t>(row)};
            for (int digit = 0; digit < digits; ++digit) ++counts_[digit][digit_of(key, digit)];
        };
        add(0, own);
        for (std::int64_t j = 0; j < own; ++j) add(ordered_bits(distances[j]), j);
        for (std::int64_t j = own + 1; j < n_; ++j) add(ordered_bits(distances[j]), j);
    }

    void sort_by(int digit) {
        auto& places = counts_[digit];
        std::int32_t before = 0;
        for (auto& place : places) {
            const std::int32_t count = place;
            if (count == n_) return;  // all have the same digit
            place = before;
            before += count;
        }
        for (const Item& item : items_) other_[places[digit_of(item.key, digit)]++] = item;
        std::swap(items_, other_);
    }

    std::int64_t n_;
    std::vector<Item> items_, other_;
    std::array<std::array<std::int32_t, values>, digits> counts_;
};

// Ranks (b, n) of all rows by their distances (b, n) from the rows `own`, and the k nearest (b, k). One thread owns a row.
template <class T>
void rank_rows(const T* distances, const std::int32_t* own, std::int64_t b, std::int64_t n, std::int64_t k, std::int32_t* ranks,
               std::int32_t* nearest, const ThreadTeam& team) {
    parallel_ranges(b, rows_per_ranking, team, [&](std::int64_t begin, std::int64_t end) {
        RowSorter<T> sorter(n);
        for (std::int64_t i = begin; i < end && !team.stopped(); ++i)
            sorter.rank(distances + i * n, own[i], ranks + i * n, k, nearest + i * k);
    });
}

}  // namespace lowdim
