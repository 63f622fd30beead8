// The local join of NN-descent: distances between all members of a small group.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// What a column adds to a pair of members, and how the sum over columns becomes a distance.
struct JoinEuclidean {  // |a|² + |b|² - 2 a·b: half the operations of differences; members are near the origin, so little cancels
    static constexpr bool relative = true;
    static void add(Floats& sum, Floats a, Floats b) { sum += a * b; }
    static Floats combine(Floats a, Floats b) { return a + b; }
    static float finish(float sum, float a_norm, float b_norm) { return std::max((a_norm + b_norm) - 2.0f * sum, 0.0f); }
};
struct JoinManhattan : PairManhattan {
    static constexpr bool relative = false;
    static float finish(float sum, float, float) { return sum; }
};
struct JoinChebyshev : PairChebyshev {
    static constexpr bool relative = false;
    static float finish(float sum, float, float) { return sum; }
};

constexpr int join_rows = 4;
constexpr int join_columns = lanes == 16 ? 4 : 2;  // the sums of a square fill half of the registers
constexpr int join_sums = join_rows * join_columns;

// The totals of `join_sums` registers, by transposing them `lanes` at a time.
template <class Metric>
LOWDIM_INLINE void total_sums(Floats* sums, float* totals) {
    for (int first = 0; first < join_sums; first += lanes) {
        transpose(sums + first);
        for (int half = lanes / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l) sums[first + l] = Metric::combine(sums[first + l], sums[first + l + half]);
        store(totals + first, sums[first]);
    }
}

// What the columns of rows a … a + 4 add up to with rows b … b + join_columns, into totals.
template <class Metric>
LOWDIM_INLINE void join_square(const float* left, const float* right, std::int64_t width, float* totals) {
    Floats sums[join_sums];
    for (auto& sum : sums) sum = broadcast(0);
    for (std::int64_t c = 0; c < width; c += lanes) {
        Floats values[join_columns];
#pragma GCC unroll 4
        for (int j = 0; j < join_columns; ++j) values[j] = load(right + j * width + c);
#pragma GCC unroll 4
        for (int i = 0; i < join_rows; ++i) {
            const Floats value = load(left + i * width + c);
#pragma GCC unroll 4
            for (int j = 0; j < join_columns; ++j) Metric::add(sums[i * join_columns + j], value, values[j]);
        }
    }
    total_sums<Metric>(sums, totals);
}

// Squared norms by the same operations as the sums of pairs, so that equal rows are at distance 0.
inline void group_norms(const float* rows, std::int64_t count, std::int64_t width, float* norms) {
    for (std::int64_t m = 0; m < count; m += join_rows) {
        Floats sums[join_rows];
        for (auto& sum : sums) sum = broadcast(0);
        for (std::int64_t c = 0; c < width; c += lanes) {
#pragma GCC unroll 4
            for (int i = 0; i < join_rows; ++i) {
                const Floats value = load(rows + (m + i) * width + c);
                sums[i] += value * value;
            }
        }
        for (int i = 0; i < join_rows; ++i) norms[m + i] = reduce_sum(sums[i]);
    }
}

// distances[a * padded + b] for new members a < b (and for whatever shares a square with them). Rows are `width` apart, padded
// with zeros to whole registers; there is memory for `padded` of them.
template <class Metric>
inline void group_distances(const float* rows, std::int64_t new_count, std::int64_t count, std::int64_t width, float* norms,
                            float* distances) {
    const std::int64_t padded = padded_group(count);
    float totals[join_sums];
    if constexpr (Metric::relative) group_norms(rows, count, width, norms);
    for (std::int64_t a = 0; a < new_count; a += join_rows) {
        for (std::int64_t b = a; b < count; b += join_columns) {
            join_square<Metric>(rows + a * width, rows + b * width, width, totals);
            for (int i = 0; i < join_rows; ++i)
                for (int j = 0; j < join_columns; ++j)
                    distances[(a + i) * padded + b + j] = Metric::finish(totals[i * join_columns + j], norms[a + i], norms[b + j]);
        }
    }
}

// The same pair by pair, for metrics without registers of their own.
template <class Metric>
inline void group_distances_by_pair(const float* rows, const JoinGroup& group, std::int64_t width, const MetricRows& x, float* distances) {
    const std::int64_t padded = padded_group(group.count);
    for (std::int64_t a = 0; a < group.new_count; ++a)
        for (std::int64_t b = a + 1; b < group.count; ++b)
            distances[a * padded + b] = search_distance<Metric>(rows + a * width, rows + b * width, x.columns, x.params);
}

// Copies a row, minus `origin` if there is one, and fills up with zeros.
inline void copy_padded(const float* row, const float* origin, std::int64_t d, std::int64_t width, float* out) {
    if (origin == nullptr) {
        std::copy(row, row + d, out);
    } else {
        std::int64_t c = 0;
        for (; c + lanes <= d; c += lanes) store(out + c, load(row + c) - load(origin + c));
        for (; c < d; ++c) out[c] = row[c] - origin[c];
    }
    std::fill(out + d, out + width, 0.0f);
}

// The updates of new member a, from its distances to the members behind it.
inline std::int64_t join_updates(const JoinGroup& group, std::int64_t a, const float* distances, const float* limits,
                                 const NeighborLists& lists, Update* out) {
    const std::int64_t k = lists.k;
    const std::int32_t first = group.members[a];
    const Floats limit = broadcast(limits[a]);
    std::int64_t written = 0;
    for (std::int64_t b = (a + 1) / lanes * lanes; b < group.count; b += lanes) {
        unsigned hits = le_mask(load(distances + b), vmax(limit, load(limits + b)));
        if (b <= a) hits &= ~0u << (a + 1 - b);
        for (; hits != 0; hits &= hits - 1) {
            const std::int64_t at = b + std::countr_zero(hits);
            if (at >= group.count) break;
            const float distance = distances[at];
            const std::int32_t second = group.members[at];
            if (distance < limits[a] && !contains(lists.indices + first * k, k, second)) out[written++] = {first, second, distance};
            if (distance < limits[at] && !contains(lists.indices + second * k, k, first)) out[written++] = {second, first, distance};
        }
    }
    return written;
}

// Compares the members of a group: a pair with a new member that would enter the list of either row becomes an update.
// Returns the number of updates; `out` has space for count * (count - 1).
template <class Metric>
std::int64_t local_join(const MetricRows& x, const JoinGroup& group, const NeighborLists& lists, float* scratch, Update* out) {
    const std::int64_t width = (x.columns + lanes - 1) / lanes * lanes, padded = padded_group(group.count), k = lists.k;
    float* limits = scratch;
    float* norms = limits + padded;
    float* distances = norms + padded;
    float* rows = distances + padded * padded;
    const float* origin = nullptr;
    if constexpr (requires { Metric::relative; }) origin = Metric::relative ? x.row(group.members[0]) : nullptr;
    for (std::int64_t m = 0; m < group.count; ++m) prefetch_row(lists.indices + group.members[m] * k, k);  // for the updates
    for (std::int64_t m = 0; m < group.count; ++m) prefetch_row(lists.distances + group.members[m] * k + k - 1, 1);
    for (std::int64_t m = 0; m < group.count; ++m) {
        if (m + 2 < group.count) prefetch_row(x.row(group.members[m + 2]), x.columns);
        copy_padded(x.row(group.members[m]), origin, x.columns, width, rows + m * width);
        limits[m] = lists.distances[group.members[m] * k + k - 1];
    }
    std::fill(limits + group.count, limits + padded, -1.0f);
    std::fill(rows + group.count * width, rows + padded * width, 0.0f);
    if constexpr (requires { Metric::kind; }) {
        group_distances_by_pair<Metric>(rows, group, width, x, distances);
    } else {
        group_distances<Metric>(rows, group.new_count, group.count, width, norms, distances);
    }
    std::int64_t written = 0;
    for (std::int64_t a = 0; a < group.new_count; ++a)
        written += join_updates(group, a, distances + a * padded, limits, lists, out + written);
    return written;
}
