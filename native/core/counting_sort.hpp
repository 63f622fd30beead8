// Sorting by counting, in stretches: each is counted by itself and then written behind those before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lowdim {

// How many of each kind a stretch has, (stretches, kinds), becomes where its first of that kind goes; all of a kind begin
// at starts[kind], and one more start is the end.
inline void offsets_from_counts(std::vector<std::int64_t>& counts, std::vector<std::int64_t>& starts) {
    const std::size_t keys = starts.size() - 1;
    std::int64_t offset = 0;
    for (std::size_t key = 0; key < keys; ++key) {
        starts[key] = offset;
        for (std::size_t i = key; i < counts.size(); i += keys) offset += std::exchange(counts[i], offset);
    }
    starts[keys] = offset;
}

}  // namespace lowdim
