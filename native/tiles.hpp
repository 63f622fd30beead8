// Distances of all pairs of two blocks of rows, in register tiles, kept only where they enter a list.
// Both blocks are packed alike: groups of `lanes` rows, column after column, so that a column of a group is one
// load (for the second block) or `lanes` broadcasts (for the first).
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

constexpr int tile_rows = lanes == 4 ? 4 : lanes / 2;  // accumulators: tile_rows x 2 registers
constexpr int tile_columns = 2 * lanes;

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

template <class Metric>
inline void tile(const PackedRows& a, std::int64_t i0, const PackedRows& b, std::int64_t j0, std::int64_t d,
                 const NeighborLists& lists) {
    const float* left = a.values + i0 / lanes * lanes * d + i0 % lanes;
    const float* right = b.values + j0 * d;
    const float* further = right + lanes * d;
    Lanes sums[tile_rows][2];
    for (int i = 0; i < tile_rows; ++i) sums[i][0] = sums[i][1] = spread(0);
    for (std::int64_t c = 0; c < d; ++c) {
        const Lanes b0 = load(right + c * lanes), b1 = load(further + c * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < tile_rows; ++i) {
            const Lanes value = spread(left[c * lanes + i]);
            Metric::add(sums[i][0], value, b0);
            Metric::add(sums[i][1], value, b1);
        }
    }
    for (int half = 0; half < 2; ++half) {
        const std::int64_t j = j0 + half * lanes;
        const Lanes norms = load(b.norms + j);
        const Lanes limits = load(b.limits + j);
        unsigned hits[tile_rows], any = 0;
#pragma GCC unroll 16
        for (int i = 0; i < tile_rows; ++i) {
            sums[i][half] = Metric::finish(sums[i][half], a.norms[i0 + i], norms);
            hits[i] = at_most(sums[i][half], larger(limits, spread(a.limits[i0 + i])));
            any |= hits[i];
        }
        if (any == 0) continue;
        for (int i = 0; i < tile_rows; ++i) {
            if (hits[i] == 0) continue;
            float distances[lanes];
            store(distances, sums[i][half]);
            for (int l = 0; l < lanes; ++l)
                if (hits[i] >> l & 1u) offer(a, i0 + i, b, j + l, distances[l], lists);
        }
    }
}

template <class Metric>
void sweep_tiles(const PackedRows& a, const PackedRows& b, std::int64_t d, const NeighborLists& lists) {
    for (std::int64_t j = 0; j < b.rows; j += tile_columns)
        for (std::int64_t i = 0; i < a.rows; i += tile_rows) tile<Metric>(a, i, b, j, d, lists);
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
