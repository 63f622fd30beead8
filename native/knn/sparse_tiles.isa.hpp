// Sums over the columns that sparse rows share, and the neighbors that they make: one row against a block of rows that is
// stored by columns, in double precision. Columns that are filled well are dense panels, multiplied in register tiles.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// What a column adds to the sum of two rows: the product, or the part of the magnitude that both have.
struct SharedProduct {
    template <class V>
    static V of(V x, V y) {
        return x * y;
    }
};
struct SharedMagnitude {
    template <class V>
    static V of(V x, V y) {
        const V zero = x - x, low = x < y ? x : y, high = x < y ? y : x;
        return (low > zero ? low : zero) - (high < zero ? high : zero);
    }
};

// Adds what row i shares with every row of the block, column by column. A column has a row once, so that four are safe at a time.
template <class Shared, class T>
void add_columns(const SparseRows<T>& x, std::int64_t i, const ColumnBlock<T>& block, double* sums) {
    for (std::int64_t p = x.starts[i]; p < x.starts[i + 1]; ++p) {
        const std::int64_t column = x.columns[p];
        if (column >= block.columns) return;  // of queries, beyond all that is indexed
        const double value = static_cast<double>(x.values[p]);
        const std::uint16_t* rows = block.rows;
        const T* values = block.values;
        std::int64_t q = block.starts[column];
        const std::int64_t end = block.starts[column + 1];
        for (; q + 4 <= end; q += 4) {
            double sum[4];
            for (int l = 0; l < 4; ++l) sum[l] = sums[rows[q + l]] + Shared::of(value, static_cast<double>(values[q + l]));
            for (int l = 0; l < 4; ++l) sums[rows[q + l]] = sum[l];
        }
        for (; q < end; ++q) sums[rows[q]] += Shared::of(value, static_cast<double>(values[q]));
    }
}

constexpr int panel_lanes = wide_lanes<double>;
constexpr int panel_tile = lanes == 16 ? 8 : 4;
constexpr int panel_groups = 2;

// Sums over `columns` dense columns of the rows first … first + panel_tile of one panel with groups of another, into `sums`.
template <class Shared>
void sum_panels(const double* left, std::int64_t first, const double* right, std::int64_t groups, std::int64_t columns, double* sums,
                std::int64_t stride) {
    const double* row[panel_tile];
    for (int i = 0; i < panel_tile; ++i)
        row[i] = left + (first + i) / panel_lanes * columns * panel_lanes + (first + i) % panel_lanes;
    for (std::int64_t g = 0; g < groups; g += panel_groups, right += panel_groups * columns * panel_lanes) {
        Wide<double> total[panel_tile][panel_groups];
#pragma GCC unroll 8
        for (int i = 0; i < panel_tile; ++i)
#pragma GCC unroll 2
            for (int l = 0; l < panel_groups; ++l) total[i][l] = wide_set<double>(0);
        for (std::int64_t c = 0; c < columns; ++c) {
            Wide<double> values[panel_groups];
#pragma GCC unroll 2
            for (int l = 0; l < panel_groups; ++l) values[l] = wide_load(right + (l * columns + c) * panel_lanes);
#pragma GCC unroll 8
            for (int i = 0; i < panel_tile; ++i) {
                const Wide<double> value = wide_set<double>(row[i][c * panel_lanes]);
#pragma GCC unroll 2
                for (int l = 0; l < panel_groups; ++l) total[i][l] += Shared::of(value, values[l]);
            }
        }
        for (int i = 0; i < panel_tile; ++i)
            for (int l = 0; l < panel_groups; ++l) wide_store<double>(sums + i * stride + (g + l) * panel_lanes, total[i][l]);
    }
}

// Sums of squares or magnitudes of less than this share of the rows' own lose digits, and are measured by differences.
constexpr double cancelling = 1e-3;
// No rounding error of a sum is larger, relative to the rows' own.
constexpr double sum_rounding = 1e-13;

// Visits the columns of two rows in order, with both values (one may be zero).
template <class T, class Visit>
inline std::int64_t merge_rows(const SparseRows<T>& a, std::int64_t i, const SparseRows<T>& b, std::int64_t j, const Visit& visit) {
    std::int64_t p = a.starts[i], q = b.starts[j], count = 0;
    const std::int64_t p_end = a.starts[i + 1], q_end = b.starts[j + 1];
    for (; p < p_end || q < q_end; ++count) {
        const std::int64_t left = p < p_end ? a.columns[p] : std::int64_t{1} << 40;
        const std::int64_t right = q < q_end ? b.columns[q] : std::int64_t{1} << 40;
        const double x = left <= right ? static_cast<double>(a.values[p]) : 0.0;
        const double y = right <= left ? static_cast<double>(b.values[q]) : 0.0;
        visit(x, y);
        p += left <= right;
        q += right <= left;
    }
    return count;
}

// The sum of squared differences, without cancellation; what rounding leaves between rows of one direction is none.
template <class T>
inline double squared_differences(const SparseRows<T>& a, std::int64_t i, const SparseRows<T>& b, std::int64_t j, double columns) {
    const double f = a.factors[i], g = b.factors[j], shift = (a.offsets[i] - b.offsets[j]) / std::sqrt(columns);
    double sum = 0;
    const std::int64_t seen = merge_rows(a, i, b, j, [&](double x, double y) {
        const double difference = (f * x - g * y) - shift;
        sum += difference * difference;
    });
    sum += (columns - static_cast<double>(seen)) * shift * shift;
    return (f != 1 || g != 1) && sum < 1e-29 ? 0.0 : sum;
}

template <class T>
inline double absolute_differences(const SparseRows<T>& a, std::int64_t i, const SparseRows<T>& b, std::int64_t j) {
    double sum = 0;
    merge_rows(a, i, b, j, [&](double x, double y) { sum += std::fabs(x - y); });
    return sum;
}

// A sum over shared columns as the sum over all of them that a metric is made of (for sets, as the distance).
template <int metric>
inline double whole_sum(double shared, double own, double other, double factor, double offset, double columns) {
    if constexpr (metric == metric_squared_euclidean) return (own + other) - 2 * (factor * shared - offset);
    if constexpr (metric == metric_manhattan) return (own + other) - 2 * shared;
    if constexpr (compares_bits(metric)) return set_distance<metric, double>(shared, own, other, columns);
}

template <int metric, class T>
inline float sparse_distance(const SparseRows<T>& a, std::int64_t i, const SparseRows<T>& b, std::int64_t j, const SparseMeasure& measure,
                             double shared) {
    double sum = whole_sum<metric>(shared, a.sizes[i], b.sizes[j], a.factors[i] * b.factors[j], a.offsets[i] * b.offsets[j], measure.columns);
    if constexpr (!compares_bits(metric)) {
        if (sum < cancelling * (a.sizes[i] + b.sizes[j] + 2 * std::fabs(a.offsets[i] * b.offsets[j])))
            sum = metric == metric_manhattan ? absolute_differences(a, i, b, j) : squared_differences(a, i, b, j, measure.columns);
    }
    return static_cast<float>(reported_distance(sum, measure.root, measure.scale));
}

// A sum that no pair exceeds whose distance, in float32, is nearer than the k-th so far; or as near, if ties may enter.
double sum_limit(float kth, bool ties, const SparseMeasure& measure) {
    if (!(kth < HUGE_VALF)) return HUGE_VAL;
    if (kth <= 0 && !ties) return -HUGE_VAL;
    const float next = std::nextafter(kth, ties ? HUGE_VALF : 0.0f);
    const double edge = (static_cast<double>(kth) + static_cast<double>(next)) / 2 / measure.scale;
    return (measure.root == root_none ? edge : edge * edge) * (1 + 1e-12);
}

// Inserts an entry into the list of one row; returns the limit of sums that may still enter. Entries come in the order of
// their numbers, so that a tie enters only before a larger number.
inline double insert_sparse(const NeighborLists& lists, std::int64_t slot, float distance, std::int64_t number, const SparseMeasure& measure) {
    float* distances = lists.distances + slot * lists.k;
    std::int32_t* indices = lists.indices + slot * lists.k;
    insert_neighbor(distances, indices, lists.k, distance, static_cast<std::int32_t>(number));
    return sum_limit(distances[lists.k - 1], indices[lists.k - 1] > number, measure);
}

// Keeps the nearest of a block for query i, and the query for those of its rows that have lists and to which it is near.
template <int metric, class T>
void keep_nearer(const SparsePair<T>& pair, std::int64_t i, const double* sums, double* keys, const NeighborLists& lists) {
    const SparseRows<T>&queries = pair.queries, &base = pair.base;
    const double own = queries.sizes[i], factor = queries.factors[i], offset = queries.offsets[i], columns = pair.measure.columns;
    const double *sizes = base.sizes + pair.begin, *factors = base.factors + pair.begin, *offsets = base.offsets + pair.begin;
    constexpr double rounding = compares_bits(metric) ? 0 : sum_rounding;
#pragma omp simd
    for (std::int64_t j = 0; j < pair.count; ++j)
        keys[j] = whole_sum<metric>(sums[j], own, sizes[j], factor * factors[j], offset * offsets[j], columns) -
                  rounding * (own + sizes[j] + 2 * std::fabs(offset * offsets[j]));
    const std::int64_t last = i * lists.k + lists.k - 1;
    const std::int64_t self = pair.same ? i : pair.self_ids == nullptr ? -1 : pair.self_ids[i];
    double limit = sum_limit(lists.distances[last], lists.indices[last] > pair.begin, pair.measure);
    constexpr std::int64_t chunk = 64;
    for (std::int64_t first = 0; first < pair.count; first += chunk) {
        const std::int64_t end = std::min(first + chunk, pair.count);
        int hits = 0;
        if (pair.limits == nullptr) {
#pragma omp simd reduction(| : hits)
            for (std::int64_t j = first; j < end; ++j) hits |= keys[j] <= limit;
        } else {
#pragma omp simd reduction(| : hits)
            for (std::int64_t j = first; j < end; ++j) hits |= (keys[j] <= limit) | (keys[j] <= pair.limits[j]);
        }
        if (hits == 0) continue;
        for (std::int64_t j = first; j < end; ++j) {
            const bool near = keys[j] <= limit, near_back = pair.limits != nullptr && keys[j] <= pair.limits[j];
            const std::int64_t number = pair.begin + j;
            if (!(near || near_back) || number == self) continue;
            const float distance = sparse_distance<metric>(queries, i, base, number, pair.measure, sums[j]);
            if (near) limit = insert_sparse(lists, i, distance, number, pair.measure);
            if (near_back) pair.limits[j] = insert_sparse(lists, number, distance, i, pair.measure);
        }
    }
}
