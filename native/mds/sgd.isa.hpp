// Stochastic gradient descent on stress.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

// Every point of one party meets every point of another, and both go by the share `rate` of what is missing to their
// distance. In turn t, point i meets point i + t (modulo the size): the pairs of a turn share no point, and
// targets[t * size + i] is their distance (below zero: there is no such pair). Returns Σ (δ - d)² as met.
template <class T>
double meet(T* here, T* there, const T* targets, std::int64_t size, std::int64_t k, T rate) {
    T factor[party_size];
    double stress = 0;
    for (std::int64_t turn = 0; turn < size; ++turn, targets += size) {
        for (int wrapped = 0; wrapped < 2; ++wrapped) {  // before and behind the wrap, the two run side by side
            const std::int64_t begin = wrapped ? size - turn : 0, end = wrapped ? size : size - turn;
            const std::int64_t shift = wrapped ? turn - size : turn;
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
                const T d = std::sqrt(factor[i]), gap = targets[i] < 0 ? T(0) : targets[i] - d;
                sum += gap * gap;
                factor[i] = factor[i] > coinciding<T> ? rate * gap / d : T(0);
            }
            stress += static_cast<double>(sum);
            for (std::int64_t c = 0; c < k; ++c) {
                T *a = here + c * size, *b = there + c * size + shift;
#pragma omp simd
                for (std::int64_t i = begin; i < end; ++i) {
                    const T step = factor[i] * (a[i] - b[i]);
                    a[i] += step;
                    b[i] -= step;
                }
            }
        }
    }
    return stress;
}
