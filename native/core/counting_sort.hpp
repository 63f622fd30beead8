// Sorting by counting, in stretches: each is counted by itself and then written behind those before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lowdim {

// How many of each kind a stretch has, (stretches, kinds), becomes where its first of that kind goes; all of a kind begin
// at starts[kind], and one more start is the end.
inline void places_from_counts(std::vector<std::int64_t>& counts, std::vector<std::int64_t>& starts) {
    const std::size_t kinds = starts.size() - 1;
    std::int64_t at = 0;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        starts[kind] = at;
        for (std::size_t i = kind; i < counts.size(); i += kinds) at += std::exchange(counts[i], at);
    }
    starts[kinds] = at;
}

}  // namespace lowdim
