// A round-robin tournament by the circle method: in a round everybody meets one other, and in all rounds everybody once.
#pragma once

#include <array>
#include <cstdint>

namespace lowdim {

// Who plays match `match` of round `round` < teams - 1; `teams` is even.
inline std::array<std::int64_t, 2> round_robin_pair(std::int64_t players, std::int64_t round, std::int64_t match) {
    const std::int64_t odd = players - 1;
    if (match == 0) return {odd, round};
    return {(round + match) % odd, (round - match + odd) % odd};
}

}  // namespace lowdim
