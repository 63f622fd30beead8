// Distances of all pairs of two blocks of rows, in register tiles, kept only where they enter a list.
// Both blocks are packed alike: groups of `lanes` rows, column after column, so that a column of a group is one
// load (for the second block) or `lanes` broadcasts (for the first).
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

constexpr int tile_rows = lanes == 4 ? 4 : lanes / 2;
constexpr int tile_groups = 2;  // the sums of a tile fill tile_rows x tile_groups registers
constexpr int tile_columns = tile_groups * lanes;
// So many columns of a tile's rows stay in the first cache while the other block passes by.
constexpr std::int64_t columns_at_once = 9216 / (tile_columns + lanes);

#if defined(__GNUC__)
#define LOWDIM_APART __attribute__((noinline))
#else
#define LOWDIM_APART
#endif

inline void zero_tail(float* values, std::int64_t d, int filled) {
    for (std::int64_t j = 0; j < d; ++j)
        for (int l = filled; l < lanes; ++l) values[j * lanes + l] = 0;
}

// Squared lengths by the same chain of operations as the products of a tile: the distance of equal rows is then
// exactly zero.
inline void square_lengths(const float* values, std::int64_t d, float* norms) {
    Lanes sum = spread(0);
    for (std::int64_t j = 0; j < d; ++j) {
        const Lanes v = load(values + j * lanes);
        sum += v * v;
    }
    store(norms, sum);
}

// Rows `which` of x (or the first ones), minus `shift`, into groups; room for whole tiles is filled with zeros.
void pack_rows(const RowBlock<float>& x, const std::int32_t* which, const float* shift, float* values, float* norms) {
    const std::int64_t d = x.columns;
    const std::int64_t room = (x.rows + tile_columns - 1) / tile_columns * tile_columns;
    for (std::int64_t first = 0; first < room; first += lanes, values += d * lanes, norms += lanes) {
        const int filled = static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(lanes, x.rows - first)));
        const float* row[lanes];
        for (int l = 0; l < filled; ++l) row[l] = x.row(which == nullptr ? first + l : which[first + l]);
        std::int64_t j = 0;
        if (filled == lanes) {
            for (; j + lanes <= d; j += lanes) {
                const Lanes middle = shift == nullptr ? spread(0) : load(shift + j);
                Lanes square[lanes];
                for (int l = 0; l < lanes; ++l) square[l] = load(row[l] + j) - middle;
                transpose(square);
                for (int l = 0; l < lanes; ++l) store(values + (j + l) * lanes, square[l]);
            }
        }
        for (; j < d; ++j) {
            const float middle = shift == nullptr ? 0 : shift[j];
            for (int l = 0; l < filled; ++l) values[j * lanes + l] = row[l][j] - middle;
        }
        if (filled < lanes) zero_tail(values, d, filled);
        square_lengths(values, d, norms);
    }
}

// What a column adds to a pair, and what the sum over columns means.
struct Squares {  // |a|² + |b|² - 2 a·b
    static void add(Lanes& sum, Lanes a, Lanes b) { sum += a * b; }
    static Lanes finish(Lanes sum, float a_norm, Lanes b_norms) {
        return larger((spread(a_norm) + b_norms) - 2.0f * sum, spread(0));
    }
};
struct Magnitudes {
    static void add(Lanes& sum, Lanes a, Lanes b) { sum += magnitude(a - b); }
    static Lanes finish(Lanes sum, float, Lanes) { return sum; }
};
struct Largest {
    static void add(Lanes& sum, Lanes a, Lanes b) { sum = larger(sum, magnitude(a - b)); }
    static Lanes finish(Lanes sum, float, Lanes) { return sum; }
};

// Enters a pair into the list of the row, and of the other row if that block has lists too.
inline void offer(const PackedRows& a, std::int64_t i, const PackedRows& b, std::int64_t j, float distance,
                  const NeighborLists& lists) {
    if (i >= a.rows || j >= b.rows || a.ids[i] == b.ids[j]) return;
    const std::int64_t k = lists.k;
    const auto enter = [&](const PackedRows& own, std::int64_t row, std::int32_t other) {
        float* distances = lists.distances + own.slots[row] * k;
        std::int32_t* indices = lists.indices + own.slots[row] * k;
        if (holds(indices, k, other)) return;  // it may have come on another way
        insert(distances, indices, k, distance, other);
        own.limits[row] = distances[k - 1];
    };
    if (distance <= a.limits[i]) enter(a, i, b.ids[j]);
    if (b.slots != nullptr && distance <= b.limits[j]) enter(b, j, a.ids[i]);
}

// The pairs of a tile that may enter a list, row by row. Most tiles have none, so this stays out of their way.
LOWDIM_APART void offer_tile(const PackedRows& a, std::int64_t i0, const PackedRows& b, std::int64_t j0,
                             const float* distances, const NeighborLists& lists) {
    for (int i = 0; i < tile_rows; ++i) {
        for (int g = 0; g < tile_groups; ++g, distances += lanes) {
            const std::int64_t j = j0 + g * lanes;
            const Lanes limits = larger(load(b.limits + j), spread(a.limits[i0 + i]));
            for (unsigned hits = at_most(load(distances), limits); hits != 0; hits &= hits - 1) {
                const int l = std::countr_zero(hits);
                offer(a, i0 + i, b, j + l, distances[l], lists);
            }
        }
    }
}

// Columns begin … end of a tile. Sums of earlier columns come from `partial` and go back there unless these are the last.
template <class Metric>
inline void tile(const PackedRows& a, std::int64_t i0, const PackedRows& b, std::int64_t j0, std::int64_t begin,
                 std::int64_t end, std::int64_t d, float* partial, const NeighborLists& lists) {
    const float* left = a.values + i0 / lanes * lanes * d + i0 % lanes;
    const float* right = b.values + j0 * d;
    Lanes sums[tile_rows][tile_groups];
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g)
            sums[i][g] = begin == 0 ? spread(0) : load(partial + (tile_groups * i + g) * lanes);
    for (std::int64_t c = begin; c < end; ++c) {
        Lanes values[tile_groups];
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) values[g] = load(right + (g * d + c) * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < tile_rows; ++i) {
            const Lanes value = spread(left[c * lanes + i]);
#pragma GCC unroll 4
            for (int g = 0; g < tile_groups; ++g) Metric::add(sums[i][g], value, values[g]);
        }
    }
    unsigned any = 0;
    if (end == d) {
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) {
            const Lanes norms = load(b.norms + j0 + g * lanes), limits = load(b.limits + j0 + g * lanes);
#pragma GCC unroll 16
            for (int i = 0; i < tile_rows; ++i) {
                sums[i][g] = Metric::finish(sums[i][g], a.norms[i0 + i], norms);
                any |= at_most(sums[i][g], larger(limits, spread(a.limits[i0 + i])));
            }
        }
        if (any == 0) return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) store(partial + (tile_groups * i + g) * lanes, sums[i][g]);
    if (any != 0) offer_tile(a, i0, b, j0, partial, lists);
}

template <class Metric>
void sweep_tiles(const PackedRows& a, const PackedRows& b, std::int64_t d, const NeighborLists& lists) {
    for (std::int64_t j = 0; j < b.rows; j += tile_columns)
        for (std::int64_t begin = 0; begin < d; begin += columns_at_once)
            for (std::int64_t i = 0; i < a.rows; i += tile_rows)
                tile<Metric>(a, i, b, j, begin, std::min(begin + columns_at_once, d), d, a.partial + i * tile_columns, lists);
}

// Rows of bits: shares of columns that differ (hamming), or of the columns set in either that differ (jaccard).
template <bool jaccard>
void sweep_bits(const PackedRows& a, const PackedRows& b, std::int64_t words, const NeighborLists& lists) {
    const auto* left = reinterpret_cast<const std::uint64_t*>(a.values);
    for (std::int64_t i = 0; i < a.rows; ++i, left += words) {
        const auto* right = reinterpret_cast<const std::uint64_t*>(b.values);
        for (std::int64_t j = 0; j < b.rows; ++j, right += words) {
            std::int64_t differ = 0, either = 0;
            for (std::int64_t w = 0; w < words; ++w) {
                differ += __builtin_popcountll(left[w] ^ right[w]);
                if (jaccard) either += __builtin_popcountll(left[w] | right[w]);
            }
            const float distance = !jaccard ? static_cast<float>(differ)
                                   : either == 0 ? 0.0f
                                                 : static_cast<float>(static_cast<double>(differ) / static_cast<double>(either));
            if (distance <= a.limits[i] || distance <= b.limits[j]) offer(a, i, b, j, distance, lists);
        }
    }
}
