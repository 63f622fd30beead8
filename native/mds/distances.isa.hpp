// Distances from one row to many.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// The contribution of a column to a distance.
template <class T, int metric>
inline T column_term(T a, T b) {
    if constexpr (metric == metric_squared_euclidean) {
        return (a - b) * (a - b);
    } else {
        return std::fabs(a - b);
    }
}

// Distances from one row to every row of b; those of sums four at a time, so that they are independent chains.
template <class T, int metric>
void row_distances(const T* a, const RowBlock<T>& b, const MetricForm<T>& form, T* out) {
    const std::int64_t d = b.columns;
    const T scale = static_cast<T>(form.scale);
    if constexpr (!in_tiles(metric)) {
        for (std::int64_t i = 0; i < b.rows; ++i)
            out[i] = reported_distance(pair_distance<metric, T>(a, b.row(i), d, form.params), form.root, scale);
        return;
    }
    for (std::int64_t first = 0; first < b.rows; first += 4) {
        const std::int64_t last = b.rows - 1;
        const T *b0 = b.row(first), *b1 = b.row(std::min(first + 1, last)), *b2 = b.row(std::min(first + 2, last)),
                *b3 = b.row(std::min(first + 3, last));
        T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        if constexpr (metric == metric_chebyshev) {
#pragma omp simd reduction(max : s0, s1, s2, s3)
            for (std::int64_t j = 0; j < d; ++j) {
                s0 = std::max(s0, column_term<T, metric>(a[j], b0[j]));
                s1 = std::max(s1, column_term<T, metric>(a[j], b1[j]));
                s2 = std::max(s2, column_term<T, metric>(a[j], b2[j]));
                s3 = std::max(s3, column_term<T, metric>(a[j], b3[j]));
            }
        } else {
#pragma omp simd reduction(+ : s0, s1, s2, s3)
            for (std::int64_t j = 0; j < d; ++j) {
                s0 += column_term<T, metric>(a[j], b0[j]);
                s1 += column_term<T, metric>(a[j], b1[j]);
                s2 += column_term<T, metric>(a[j], b2[j]);
                s3 += column_term<T, metric>(a[j], b3[j]);
            }
        }
        const T sums[4] = {s0, s1, s2, s3};
        for (std::int64_t l = 0; l < 4 && first + l < b.rows; ++l) out[first + l] = reported_distance(sums[l], form.root, scale);
    }
}
