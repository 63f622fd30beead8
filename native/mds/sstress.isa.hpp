// Squared stress along a search direction.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// The squared stress along y + t p of the pairs of rows begin … end: the five coefficients of its polynomial, added to `out`.
template <class T>
void sstress_line_tile(const PairTable<T>& pairs, const T* p, std::int64_t begin, std::int64_t end, double* out) {
    const PairTable<T> direction = {p, nullptr, nullptr, nullptr, pairs.n, pairs.k};
    T square[pair_block], quadratic[pair_block], cross[pair_block];
    for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t first = i + 1; first < pairs.n; first += pair_block) {
            const std::int64_t count = std::min<std::int64_t>(pair_block, pairs.n - first);
            const std::int64_t at = pair_index(i, first, pairs.n);
            squared_map_distances(pairs, i, first, count, square);
            squared_map_distances(direction, i, first, count, quadratic);
            std::fill(cross, cross + count, T(0));
            for (std::int64_t c = 0; c < pairs.k; ++c) {
                const T* y = pairs.y + c * pairs.n;
                const T* q = p + c * pairs.n;
#pragma omp simd
                for (std::int64_t j = 0; j < count; ++j) cross[j] += 2 * (y[i] - y[first + j]) * (q[i] - q[first + j]);
            }
            T a = 0, b = 0, c2 = 0, c3 = 0, c4 = 0;
#pragma omp simd reduction(+ : a, b, c2, c3, c4)
            for (std::int64_t j = 0; j < count; ++j) {
                const T w = pairs.weights == nullptr ? T(1) : pairs.weights[at + j];
                const T excess = square[j] - pairs.targets[at + j] * pairs.targets[at + j];
                a += w * excess * excess;
                b += w * 2 * excess * cross[j];
                c2 += w * (cross[j] * cross[j] + 2 * excess * quadratic[j]);
                c3 += w * 2 * cross[j] * quadratic[j];
                c4 += w * quadratic[j] * quadratic[j];
            }
            const T parts[5] = {a, b, c2, c3, c4};
            for (int power = 0; power < 5; ++power) out[power] += static_cast<double>(parts[power]);
        }
    }
}
