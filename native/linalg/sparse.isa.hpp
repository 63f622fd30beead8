// Products of a block of compressed sparse rows with a narrow dense matrix.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// out (rows, k) = X V, V (d, k).
template <class T, class I>
void sparse_times(const SparseBlock<T, I>& x, const T* v, std::int64_t k, T* out) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
        T* target = out + i * k;
        std::fill(target, target + k, T(0));
        for (std::int64_t p = x.starts[i]; p < x.starts[i + 1]; ++p) {
            const T value = x.values[p];
            const T* row = v + static_cast<std::int64_t>(x.columns[p]) * k;
#pragma omp simd
            for (std::int64_t j = 0; j < k; ++j) target[j] += value * row[j];
        }
    }
}

// out (d, k) += Xᵀ U, U (rows, k), summed in double.
template <class T, class I>
void sparse_transpose_times(const SparseBlock<T, I>& x, const T* u, std::int64_t k, double* out) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
        const T* row = u + i * k;
        for (std::int64_t p = x.starts[i]; p < x.starts[i + 1]; ++p) {
            const double value = static_cast<double>(x.values[p]);
            double* target = out + static_cast<std::int64_t>(x.columns[p]) * k;
#pragma omp simd
            for (std::int64_t j = 0; j < k; ++j) target[j] += value * static_cast<double>(row[j]);
        }
    }
}
