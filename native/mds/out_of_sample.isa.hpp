// Out-of-sample points of MDS.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Embeds one new point among fixed ones by majorization: y ← mean of y_j + (δ_j / d_j) (y - y_j). Returns whether it
// converged, that is, made a step of at most `tol`. `scratch` holds two points.
template <class T>
bool majorize_point(const PairTable<T>& fixed, std::int64_t max_steps, double tol, double* scratch, double* position) {
    const std::int64_t n = fixed.n, k = fixed.k;
    T square[pair_block], factor[pair_block];
    double *centroid = scratch, *force = scratch + k, total_weight = 0;
    std::fill(centroid, centroid + k, 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
        const double w = fixed.weights == nullptr ? 1.0 : static_cast<double>(fixed.weights[j]);
        total_weight += w;
        for (std::int64_t c = 0; c < k; ++c) centroid[c] += w * static_cast<double>(fixed.y[c * n + j]);
    }
    if (total_weight <= 0) return true;
    for (std::int64_t step = 0; step < max_steps; ++step) {
        std::fill(force, force + k, 0.0);
        for (std::int64_t first = 0; first < n; first += pair_block) {
            const std::int64_t count = std::min<std::int64_t>(pair_block, n - first);
            std::fill(square, square + count, T(0));
            for (std::int64_t c = 0; c < k; ++c) {
                const T here = static_cast<T>(position[c]);
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
                const T here = static_cast<T>(position[c]);
                const T* there = fixed.y + c * n + first;
                T sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::int64_t j = 0; j < count; ++j) sum += factor[j] * (here - there[j]);
                force[c] += static_cast<double>(sum);
            }
        }
        double squared_step = 0;
        for (std::int64_t c = 0; c < k; ++c) {
            const double next = (centroid[c] + force[c]) / total_weight;
            squared_step += (next - position[c]) * (next - position[c]);
            position[c] = next;
        }
        if (squared_step <= tol * tol) return true;
    }
    return false;
}
