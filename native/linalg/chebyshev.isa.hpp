// Three-term recurrences of a sparse matrix applied to a block of vectors, as in Chebyshev filters.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// out = scale (S x) + shift x + z_scale z for rows first … last of S (n, n); x, z, out (n, W).
template <int W>
void three_term_rows(const ThreeTermStep& step, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        float sum[W] = {};
        for (std::int64_t p = step.starts[i]; p < step.starts[i + 1]; ++p) {
            const float value = step.values[p];
            const float* row = step.x + static_cast<std::int64_t>(step.columns[p]) * W;
#pragma omp simd
            for (int j = 0; j < W; ++j) sum[j] += value * row[j];
        }
        const float *own = step.x + i * W, *previous = step.z + i * W;
        float* target = step.out + i * W;
#pragma omp simd
        for (int j = 0; j < W; ++j) target[j] = step.scale * sum[j] + step.shift * own[j] + step.z_scale * previous[j];
    }
}

// Columns first … first + columns of one step of Chebyshev's recurrence, factor (M source - center current) -
// previous_factor previous, for some rows; their sums stay in registers.
template <int columns>
inline void chebyshev_columns(const SparseBlock<double, std::int32_t>& m, std::int64_t begin, std::int64_t end, const ChebyshevStep& step,
                              std::int64_t first) {
    const std::int64_t width = step.width;
    for (std::int64_t i = begin; i < end; ++i) {
        double sum[columns];
        const double* own = step.current + i * width + first;
        for (int l = 0; l < columns; ++l) sum[l] = -step.center * own[l];
        for (std::int64_t e = m.starts[i]; e < m.starts[i + 1]; ++e) {
            const double value = m.values[e];
            const double* row = step.source + static_cast<std::int64_t>(m.columns[e]) * width + first;
#pragma omp simd
            for (int l = 0; l < columns; ++l) sum[l] += value * row[l];
        }
        const double* previous = step.previous + i * width + first;
        double* out = step.out + i * width + first;
        for (int l = 0; l < columns; ++l) out[l] = step.factor * sum[l] - step.previous_factor * previous[l];
    }
}

inline void chebyshev_rows(const SparseBlock<double, std::int32_t>& m, std::int64_t begin, std::int64_t end, const ChebyshevStep& step) {
    std::int64_t first = 0;
    for (; first + 16 <= step.width; first += 16) chebyshev_columns<16>(m, begin, end, step, first);
    for (; first + 8 <= step.width; first += 8) chebyshev_columns<8>(m, begin, end, step, first);
    for (; first < step.width; ++first) chebyshev_columns<1>(m, begin, end, step, first);
}
