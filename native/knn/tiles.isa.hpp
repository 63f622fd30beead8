// Distances of all pairs of two blocks of rows, in register tiles, kept only if they enter a list.
// Both blocks are packed the same way: groups of `lanes` rows, column by column, so that a column of a group is one load (for
// the second block) or `lanes` broadcasts (for the first).
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr int tile_rows = lanes == 4 ? 4 : lanes / 2;
constexpr int tile_groups = 2;  // the sums of a tile fill tile_rows x tile_groups registers
constexpr int tile_columns = tile_groups * lanes;
// This many columns of a tile's rows stay in the L1 cache while the other block streams by.
constexpr std::int64_t columns_per_pass = 9216 / (tile_columns + lanes);

#if defined(__GNUC__)
#define LOWDIM_NOINLINE __attribute__((noinline))
#else
#define LOWDIM_NOINLINE
#endif

inline void zero_tail(float* values, std::int64_t d, int filled) {
    for (std::int64_t j = 0; j < d; ++j)
        for (int l = filled; l < lanes; ++l) values[j * lanes + l] = 0;
}

// Squared norms by the same chain of operations as the products of a tile, so that the distance of equal rows is exactly
// zero.
inline void squared_norms(const float* values, std::int64_t d, float* norms) {
    Floats sum = broadcast(0);
    for (std::int64_t j = 0; j < d; ++j) {
        const Floats v = load(values + j * lanes);
        sum += v * v;
    }
    store(norms, sum);
}

// Packs rows `which` of x (or the first ones), minus `shift`, into groups; padding up to whole tiles is zero.
void pack_rows(const RowBlock<float>& x, const std::int32_t* which, const float* shift, float* values, float* norms) {
    const std::int64_t d = x.columns;
    const std::int64_t padded = (x.rows + tile_columns - 1) / tile_columns * tile_columns;
    for (std::int64_t first = 0; first < padded; first += lanes, values += d * lanes, norms += lanes) {
        const int filled = static_cast<int>(std::max<std::int64_t>(0, std::min<std::int64_t>(lanes, x.rows - first)));
        const float* row[lanes];
        for (int l = 0; l < filled; ++l) row[l] = x.row(which == nullptr ? first + l : which[first + l]);
        std::int64_t j = 0;
        if (filled == lanes) {
            for (; j + lanes <= d; j += lanes) {
                const Floats center = shift == nullptr ? broadcast(0) : load(shift + j);
                Floats square[lanes];
                for (int l = 0; l < lanes; ++l) square[l] = load(row[l] + j) - center;
                transpose(square);
                for (int l = 0; l < lanes; ++l) store(values + (j + l) * lanes, square[l]);
            }
        }
        for (; j < d; ++j) {
            const float center = shift == nullptr ? 0 : shift[j];
            for (int l = 0; l < filled; ++l) values[j * lanes + l] = row[l][j] - center;
        }
        if (filled < lanes) zero_tail(values, d, filled);
        squared_norms(values, d, norms);
    }
}

// What a column adds to a pair, and how the sum over columns becomes a distance.
struct TileEuclidean {  // |a|² + |b|² - 2 a·b
    static void add(Floats& sum, Floats a, Floats b) { sum += a * b; }
    static Floats finish(Floats sum, float a_norm, Floats b_norms) {
        return vmax((broadcast(a_norm) + b_norms) - 2.0f * sum, broadcast(0));
    }
};
struct TileManhattan {
    static void add(Floats& sum, Floats a, Floats b) { sum += vabs(a - b); }
    static Floats finish(Floats sum, float, Floats) { return sum; }
};
struct TileChebyshev {
    static void add(Floats& sum, Floats a, Floats b) { sum = vmax(sum, vabs(a - b)); }
    static Floats finish(Floats sum, float, Floats) { return sum; }
};

// Inserts a pair into the list of its first row, and of its second row if that block has lists too.
inline void insert_pair(const PackedRows& a, std::int64_t i, const PackedRows& b, std::int64_t j, float distance,
                        const NeighborLists& lists) {
    if (i >= a.rows || j >= b.rows || a.ids[i] == b.ids[j]) return;
    const std::int64_t k = lists.k;
    const auto insert_into = [&](const PackedRows& own, std::int64_t row, std::int32_t other) {
        float* distances = lists.distances + own.slots[row] * k;
        std::int32_t* indices = lists.indices + own.slots[row] * k;
        if (contains(indices, k, other)) return;  // it may have been found before
        insert_neighbor(distances, indices, k, distance, other);
        own.limits[row] = distances[k - 1];
    };
    if (distance <= a.limits[i]) insert_into(a, i, b.ids[j]);
    if (b.slots != nullptr && distance <= b.limits[j]) insert_into(b, j, a.ids[i]);
}

// Inserts the pairs of a tile, row by row. Most tiles have none, so this is kept out of line.
LOWDIM_NOINLINE void insert_tile(const PackedRows& a, std::int64_t i0, const PackedRows& b, std::int64_t j0, const float* distances,
                                 const NeighborLists& lists) {
    for (int i = 0; i < tile_rows; ++i) {
        for (int g = 0; g < tile_groups; ++g, distances += lanes) {
            const std::int64_t j = j0 + g * lanes;
            const Floats limits = vmax(load(b.limits + j), broadcast(a.limits[i0 + i]));
            for (unsigned hits = le_mask(load(distances), limits); hits != 0; hits &= hits - 1) {
                const int l = std::countr_zero(hits);
                insert_pair(a, i0 + i, b, j + l, distances[l], lists);
            }
        }
    }
}

// Columns begin … end of a tile. Sums of earlier columns are read from `partial`, and written back unless these are the last.
template <class Metric>
inline void compare_tile(const PackedRows& a, std::int64_t i0, const PackedRows& b, std::int64_t j0, std::int64_t begin, std::int64_t end,
                         std::int64_t d, float* partial, const NeighborLists& lists) {
    const float* left = a.values + i0 / lanes * lanes * d + i0 % lanes;
    const float* right = b.values + j0 * d;
    Floats sums[tile_rows][tile_groups];
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) sums[i][g] = begin == 0 ? broadcast(0) : load(partial + (tile_groups * i + g) * lanes);
    for (std::int64_t c = begin; c < end; ++c) {
        Floats values[tile_groups];
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) values[g] = load(right + (g * d + c) * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < tile_rows; ++i) {
            const Floats value = broadcast(left[c * lanes + i]);
#pragma GCC unroll 4
            for (int g = 0; g < tile_groups; ++g) Metric::add(sums[i][g], value, values[g]);
        }
    }
    unsigned any_candidate = 0;
    if (end == d) {
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) {
            const Floats norms = load(b.norms + j0 + g * lanes), limits = load(b.limits + j0 + g * lanes);
#pragma GCC unroll 16
            for (int i = 0; i < tile_rows; ++i) {
                sums[i][g] = Metric::finish(sums[i][g], a.norms[i0 + i], norms);
                any_candidate |= le_mask(sums[i][g], vmax(limits, broadcast(a.limits[i0 + i])));
            }
        }
        if (any_candidate == 0) return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < tile_groups; ++g) store(partial + (tile_groups * i + g) * lanes, sums[i][g]);
    if (any_candidate != 0) insert_tile(a, i0, b, j0, partial, lists);
}

template <class Metric>
void sweep_tiles(const PackedRows& a, const PackedRows& b, std::int64_t d, const NeighborLists& lists) {
    for (std::int64_t j = 0; j < b.rows; j += tile_columns)
        for (std::int64_t begin = 0; begin < d; begin += columns_per_pass)
            for (std::int64_t i = 0; i < a.rows; i += tile_rows)
                compare_tile<Metric>(a, i, b, j, begin, std::min(begin + columns_per_pass, d), d, a.partial + i * tile_columns, lists);
}

// Rows of bits, as words: the number of columns that differ (Hamming), or another distance of sets, whose parameter is the
// number of columns.
template <int metric>
void sweep_bits(const PackedRows& a, const PackedRows& b, std::int64_t words, const NeighborLists& lists) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.rows; ++j) {
            const float distance = words_distance<metric>(a.values + 2 * i * words, b.values + 2 * j * words, words, a.params);
            if (distance <= a.limits[i] || distance <= b.limits[j]) insert_pair(a, i, b, j, distance, lists);
        }
    }
}

// All pairs of two blocks, pair by pair, for the metrics whose terms cost more than reading them.
template <int metric>
void sweep_pairs(const PackedRows& a, const PackedRows& b, std::int64_t d, const NeighborLists& lists) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.rows; ++j) {
            const float distance = pair_distance<metric, float>(a.values + i * d, b.values + j * d, d, a.params);
            if (distance <= a.limits[i] || distance <= b.limits[j]) insert_pair(a, i, b, j, distance, lists);
        }
    }
}
