// One step of a polynomial of a sparse matrix applied to a block of vectors.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

// out = scale (S x) + shift x + back z for rows first … last of S (n, n); x, z, out (n, W).
template <int W>
void filter_rows(const FilterStep& step, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
        float sum[W] = {};
        for (std::int64_t p = step.starts[i]; p < step.starts[i + 1]; ++p) {
            const float value = step.values[p];
            const float* row = step.x + static_cast<std::int64_t>(step.columns[p]) * W;
#pragma omp simd
            for (int j = 0; j < W; ++j) sum[j] += value * row[j];
        }
        const float *own = step.x + i * W, *old = step.z + i * W;
        float* target = step.out + i * W;
#pragma omp simd
        for (int j = 0; j < W; ++j) target[j] = step.scale * sum[j] + step.shift * own[j] + step.back * old[j];
    }
}
