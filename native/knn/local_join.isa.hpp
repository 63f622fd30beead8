// The local join of NN-descent: distances between all members of a small group.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// distances[a * padded + b] for new members a < b (and for whatever shares a 4 x 4 square with them). Rows are `width` apart,
// padded with zeros to whole registers; there is memory for a multiple of 4 of them.
template <class Metric>
inline void group_distances(const float* rows, std::int64_t new_count, std::int64_t count, std::int64_t width, float* distances) {
    const std::int64_t padded = (count + 3) / 4 * 4;
    for (std::int64_t a = 0; a < new_count; a += 4) {
        for (std::int64_t b = a; b < count; b += 4) {
            const float* left = rows + a * width;
            const float* right = rows + b * width;
            Floats sums[4][4];
            for (auto& row : sums)
                for (auto& sum : row) sum = broadcast(0);
            for (std::int64_t c = 0; c < width; c += lanes) {
                Floats values[4];
#pragma GCC unroll 4
                for (int j = 0; j < 4; ++j) values[j] = load(right + j * width + c);
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i) {
                    const Floats value = load(left + i * width + c);
#pragma GCC unroll 4
                    for (int j = 0; j < 4; ++j) Metric::add(sums[i][j], value, values[j]);
                }
            }
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) distances[(a + i) * padded + b + j] = Metric::total(sums[i][j]);
        }
    }
}

// The same pair by pair, for metrics without registers of their own.
template <class Metric>
inline void group_distances_by_pair(const float* rows, const JoinGroup& group, std::int64_t width, const MetricRows& x, float* distances) {
    const std::int64_t padded = (group.count + 3) / 4 * 4;
    for (std::int64_t a = 0; a < group.new_count; ++a)
        for (std::int64_t b = a + 1; b < group.count; ++b)
            distances[a * padded + b] = search_distance<Metric>(rows + a * width, rows + b * width, x.columns, x.params);
}

inline void copy_padded(const float* row, std::int64_t d, std::int64_t width, float* out) {
    std::copy(row, row + d, out);
    std::fill(out + d, out + width, 0.0f);
}

// Compares the members of a group: a pair with a new member that would enter the list of either row becomes an update.
// Returns the number of updates; `out` has space for count * (count - 1).
template <class Metric>
std::int64_t local_join(const MetricRows& x, const JoinGroup& group, const NeighborLists& lists, float* scratch, Update* out) {
    const std::int64_t width = (x.columns + lanes - 1) / lanes * lanes;
    const std::int64_t padded = (group.count + 3) / 4 * 4;
    float* rows = scratch;
    float* distances = scratch + padded * width;
    for (std::int64_t m = 0; m < group.count; ++m) copy_padded(x.row(group.members[m]), x.columns, width, rows + m * width);
    for (std::int64_t m = group.count; m < padded; ++m) std::fill(rows + m * width, rows + (m + 1) * width, 0.0f);
    if constexpr (requires { Metric::kind; }) {
        group_distances_by_pair<Metric>(rows, group, width, x, distances);
    } else {
        group_distances<Metric>(rows, group.new_count, group.count, width, distances);
    }
    const std::int64_t k = lists.k;
    std::int64_t written = 0;
    for (std::int64_t a = 0; a < group.new_count; ++a) {
        const std::int32_t first = group.members[a];
        const std::int32_t* listed = lists.indices + first * k;
        const float limit = lists.distances[first * k + k - 1];
        for (std::int64_t b = a + 1; b < group.count; ++b) {
            const float distance = distances[a * padded + b];
            const std::int32_t second = group.members[b];
            if (distance < limit && !contains(listed, k, second)) out[written++] = {first, second, distance};
            if (distance < lists.distances[second * k + k - 1] && !contains(lists.indices + second * k, k, first))
                out[written++] = {second, first, distance};
        }
    }
    return written;
}
