// Counter-based random numbers: a draw is a pure function of (seed, stream, index), so it depends neither on the order of
// work nor on the thread. The generator is Philox 4x32-10 (Salmon et al. 2011); the tests check its published test vectors.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace lowdim {

using PhiloxWords = std::array<std::uint32_t, 4>;

inline PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(p1),
                   static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(p0)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// The four words of draw `index` of `stream`.
inline PhiloxWords draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    const PhiloxWords counter = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
    return philox(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

// In the open interval (0, 1): the half step keeps log() finite.
inline double unit(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1.0p-52;
}

// Two standard normals from one draw (Box–Muller).
inline std::array<double, 2> normal_pair(const PhiloxWords& words) {
    const double radius = std::sqrt(-2.0 * std::log(unit(words[0], words[1])));
    const double angle = 6.283185307179586476925286766559 * unit(words[2], words[3]);
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace lowdim
