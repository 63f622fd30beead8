// Units of a grid as intersections of bitmaps: one bitmap over the rows per interval of a column.

constexpr std::int64_t unit_block = unit_block_words;

inline void intersect(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words, std::uint64_t* out) {
#pragma omp simd
    for (std::int64_t w = 0; w < words; ++w) out[w] = a[w] & b[w];
}

// supports[u] = number of rows in all `k` intervals of unit u. Units are sorted, so that a unit shares its first intersections with the
// unit before it: only those after the first different interval are computed. `scratch`: k blocks of words.
inline void unit_supports(const std::uint64_t* bitmaps, std::int64_t words, const std::int32_t* units, std::int64_t count, std::int64_t k,
                          std::uint64_t* scratch, std::int64_t* supports) {
    for (std::int64_t u = 0; u < count; ++u) supports[u] = 0;
    for (std::int64_t first = 0; first < words; first += unit_block) {
        const std::int64_t block = std::min(unit_block, words - first);
        for (std::int64_t u = 0; u < count; ++u) {
            const std::int32_t* unit = units + u * k;
            std::int64_t shared = 0;
            if (u > 0)
                while (shared < k && unit[shared] == unit[shared - k]) ++shared;
            const std::uint64_t* prefix = bitmaps + unit[0] * words + first;
            for (std::int64_t level = 1; level + 1 < k; ++level) {
                std::uint64_t* own = scratch + level * unit_block;
                if (level >= shared) intersect(prefix, bitmaps + unit[level] * words + first, block, own);
                prefix = own;
            }
            const std::uint64_t* last = bitmaps + unit[k - 1] * words + first;
            std::int64_t rows = 0;
            for (std::int64_t w = 0; w < block; ++w) rows += std::popcount(prefix[w] & last[w]);
            supports[u] += rows;
        }
    }
}

// out |= rows of every unit, for the words begin … end of the bitmaps. `scratch`: one block of words.
inline void unite_units(const std::uint64_t* bitmaps, std::int64_t words, const std::int32_t* units, std::int64_t count, std::int64_t k,
                        std::int64_t begin, std::int64_t end, std::uint64_t* scratch, std::uint64_t* out) {
    for (std::int64_t first = begin; first < end; first += unit_block) {
        const std::int64_t block = std::min(unit_block, end - first);
        for (std::int64_t u = 0; u < count; ++u) {
            const std::int32_t* unit = units + u * k;
            const std::uint64_t* rows = bitmaps + unit[0] * words + first;
            for (std::int64_t level = 1; level < k; ++level) {
                intersect(rows, bitmaps + unit[level] * words + first, block, scratch);
                rows = scratch;
            }
#pragma omp simd
            for (std::int64_t w = 0; w < block; ++w) out[first + w] |= rows[w];
        }
    }
}
