// Stochastic gradient descent on stress.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Updates all pairs between two blocks of points: both points move by the fraction `step_size` of the residual of their
// distance. With offset t, point i is paired with point i + t (modulo the size), so the pairs of an offset share no point;
// targets[t * size + i] is their target (negative: no such pair). Returns Σ (δ - d)² before each update.
template <class T>
double sgd_block_pair(T* here, T* there, const T* targets, std::int64_t size, std::int64_t k, T step_size) {
    T factor[sgd_block_size];
    double stress = 0;
    for (std::int64_t offset = 0; offset < size; ++offset, targets += size) {
        for (int wrapped = 0; wrapped < 2; ++wrapped) {  // before and after the wrap-around, both blocks are contiguous
            const std::int64_t begin = wrapped ? size - offset : 0, end = wrapped ? size : size - offset;
            const std::int64_t shift = wrapped ? offset - size : offset;
#pragma omp simd
            for (std::int64_t i = begin; i < end; ++i) factor[i] = 0;
            for (std::int64_t c = 0; c < k; ++c) {
                const T *a = here + c * size, *b = there + c * size + shift;
#pragma omp simd
                for (std::int64_t i = begin; i < end; ++i) factor[i] += (a[i] - b[i]) * (a[i] - b[i]);
            }
            T sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::int64_t i = begin; i < end; ++i) {
                const T d = std::sqrt(factor[i]), residual = targets[i] < 0 ? T(0) : targets[i] - d;
                sum += residual * residual;
                factor[i] = factor[i] > coincident<T> ? step_size * residual / d : T(0);
            }
            stress += static_cast<double>(sum);
            for (std::int64_t c = 0; c < k; ++c) {
                T *a = here + c * size, *b = there + c * size + shift;
#pragma omp simd
                for (std::int64_t i = begin; i < end; ++i) {
                    const T move = factor[i] * (a[i] - b[i]);
                    a[i] += move;
                    b[i] -= move;
                }
            }
        }
    }
    return stress;
}
