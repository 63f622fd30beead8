// Subspace clustering: units of a grid by bitmaps.
#pragma once

#include <cstdint>

namespace lowdim {

constexpr std::int64_t unit_block_words = 512;  // of a bitmap at a time: those of some hundred intervals stay in the cache

struct SubspaceKernels {
    void (*unit_supports)(const std::uint64_t*, std::int64_t, const std::int32_t*, std::int64_t, std::int64_t, std::uint64_t*,
                          std::int64_t*);
    void (*unite_units)(const std::uint64_t*, std::int64_t, const std::int32_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                        std::uint64_t*, std::uint64_t*);
};

}  // namespace lowdim
