// New points among fixed ones.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

// One new point among fixed ones, by majorisation: y ← mean of y_j + (δ_j / d_j) (y - y_j). Returns whether a step of
// at most `tol` ended it. `scratch` has room for two points.
template <class T>
bool place_point(const PairTable<T>& fixed, std::int64_t most, double tol, double* scratch, double* place) {
    const std::int64_t n = fixed.n, k = fixed.k;
    T square[pair_block], factor[pair_block];
    double *middle = scratch, *pulled = scratch + k, mass = 0;
    std::fill(middle, middle + k, 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
        const double w = fixed.weights == nullptr ? 1.0 : static_cast<double>(fixed.weights[j]);
        mass += w;
        for (std::int64_t c = 0; c < k; ++c) middle[c] += w * static_cast<double>(fixed.y[c * n + j]);
    }
    if (mass <= 0) return true;
    for (std::int64_t step = 0; step < most; ++step) {
        std::fill(pulled, pulled + k, 0.0);
        for (std::int64_t first = 0; first < n; first += pair_block) {
            const std::int64_t count = std::min<std::int64_t>(pair_block, n - first);
            std::fill(square, square + count, T(0));
            for (std::int64_t c = 0; c < k; ++c) {
                const T here = static_cast<T>(place[c]);
                const T* there = fixed.y + c * n + first;
#pragma omp simd
                for (std::int64_t j = 0; j < count; ++j) square[j] += (here - there[j]) * (here - there[j]);
            }
            PairSums ignored{};
            if (fixed.weights == nullptr) {
                pair_factors<T, false, false>(square, fixed.targets + first, nullptr, count, factor, ignored);
            } else {
                pair_factors<T, false, true>(square, fixed.targets + first, fixed.weights + first, count, factor, ignored);
            }
            for (std::int64_t c = 0; c < k; ++c) {
                const T here = static_cast<T>(place[c]);
                const T* there = fixed.y + c * n + first;
                T sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::int64_t j = 0; j < count; ++j) sum += factor[j] * (here - there[j]);
                pulled[c] += static_cast<double>(sum);
            }
        }
        double moved = 0;
        for (std::int64_t c = 0; c < k; ++c) {
            const double next = (middle[c] + pulled[c]) / mass;
            moved += (next - place[c]) * (next - place[c]);
            place[c] = next;
        }
        if (moved <= tol * tol) return true;
    }
    return false;
}
