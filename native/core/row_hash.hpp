// Row hashes, by which duplicate rows are found.
#pragma once

#include <cstdint>
#include <cstring>

namespace lowdim {

// The 64-bit hash of a row is a sum over its columns to which zeros (0 and -0) add nothing. Equal rows therefore have equal
// hashes in either precision, dense or sparse.
inline std::uint64_t hash_value(std::int64_t column, double value) {
    std::uint64_t bits = 0x7FF8000000000000u;  // one NaN for all, whatever its sign and payload
    if (value == value) std::memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ (static_cast<std::uint64_t>(column + 1) * 0x9E3779B97F4A7C15u)) * 0x9FB21C651E98DF25u;
    bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u;
    return value == 0 ? 0 : bits ^ (bits >> 29);
}

template <class T>
std::uint64_t row_hash(const T* row, std::int64_t d) {
    std::uint64_t hash = 0;
    for (std::int64_t j = 0; j < d; ++j) hash += hash_value(j, static_cast<double>(row[j]));
    return hash;
}

template <class T, class I>
std::uint64_t row_hash(const I* columns, const T* values, std::int64_t stored) {
    std::uint64_t hash = 0;
    for (std::int64_t p = 0; p < stored; ++p) hash += hash_value(static_cast<std::int64_t>(columns[p]), static_cast<double>(values[p]));
    return hash;
}

}  // namespace lowdim
