// Round-robin schedule by the circle method: each player meets one other per round, and every other once over all rounds.
#pragma once

#include <array>
#include <cstdint>

namespace lowdim {

// The two players of pair number `match` in round `round` < players - 1; `players` is even.
inline std::array<std::int64_t, 2> round_robin_pair(std::int64_t players, std::int64_t round, std::int64_t match) {
    const std::int64_t odd = players - 1;
    if (match == 0) return {odd, round};
    return {(round + match) % odd, (round - match + odd) % odd};
}

}  // namespace lowdim
