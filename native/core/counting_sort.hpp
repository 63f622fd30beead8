// Counting sort in chunks: each chunk counts its keys by itself and then writes behind the chunks before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lowdim {

// Turns the (chunks, keys) counts into the offset where each chunk writes its first element of each key. Elements of a key
// begin at starts[key]; one more start marks the end.
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
