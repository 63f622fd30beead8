// The distance of one pair of rows by the metrics that need more than a sum of squares, magnitudes or maxima.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// A sum over columns as the reported distance; the arc is that of a great circle over a chord.
template <class T>
inline T reported_distance(T sum, int root, T scale) {
    if (root == root_none) return scale * sum;
    const T length = std::sqrt(sum);
    if (root == root_square) return scale * length;
    return scale * (2 * std::asin(length < 2 ? length / 2 : T(1)));
}

template <class Sum, class T, class Power>
inline Sum sum_of_powers(const T* a, const T* b, std::int64_t d, const Power& power) {
    Sum sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < d; ++j) sum += power(std::fabs(static_cast<Sum>(a[j]) - static_cast<Sum>(b[j])));
    return sum;
}

template <class Sum, class T>
inline Sum minkowski_distance(const T* a, const T* b, std::int64_t d, Sum p) {
    Sum sum;
    if (p == 3) {
        sum = sum_of_powers<Sum>(a, b, d, [](Sum x) { return x * x * x; });
    } else if (p == 4) {
        sum = sum_of_powers<Sum>(a, b, d, [](Sum x) { return (x * x) * (x * x); });
    } else if (p == Sum(1.5)) {
        sum = sum_of_powers<Sum>(a, b, d, [](Sum x) { return x * std::sqrt(x); });
    } else {
        sum = sum_of_powers<Sum>(a, b, d, [p](Sum x) { return std::pow(x, p); });
    }
    return std::pow(sum, 1 / p);
}

// Gower's distance of rows whose columns are scaled to 0 … 1 (numbers) or hold codes (categories): the weighted mean, over the
// columns in which neither value is missing (NaN), of the difference, which is at most 1. A negative weight marks an asymmetric
// column, in which two zeros do not count. Infinite if no column counts.
template <class Sum, class T>
inline Sum gower_distance(const T* a, const T* b, std::int64_t d, const T* weights) {
    Sum sum = 0, total = 0;
#pragma omp simd reduction(+ : sum, total)
    for (std::int64_t j = 0; j < d; ++j) {
        const Sum x = static_cast<Sum>(a[j]), y = static_cast<Sum>(b[j]), w = static_cast<Sum>(weights[j]);
        const Sum difference = std::fabs(x - y), least = difference < 1 ? difference : Sum(1);
        const bool absent = (w < 0) & (x == 0) & (y == 0);
        const Sum weight = ((difference == difference) & !absent) ? std::fabs(w) : Sum(0);
        sum += weight * least;  // finite even where a value is missing
        total += weight;
    }
    return total > 0 ? sum / total : static_cast<Sum>(HUGE_VAL);
}

// What two sets differ by: of `columns` elements, `both` sets have some, the first has `first` and the second has `second`.
template <int metric, class T>
inline T set_distance(T both, T first, T second, T columns) {
    const T differ = (first - both) + (second - both), either = both + differ;
    if constexpr (metric == metric_hamming) return differ / columns;
    if constexpr (metric == metric_jaccard) return either > 0 ? differ / either : T(0);
    if constexpr (metric == metric_dice) return either > 0 ? differ / (both + either) : T(0);
    if constexpr (metric == metric_russellrao) return (columns - both) / columns;
    if constexpr (metric == metric_rogerstanimoto) return 2 * differ / (columns + differ);
    if constexpr (metric == metric_sokalsneath) return either > 0 ? 2 * differ / (either + differ) : T(0);
    if constexpr (metric == metric_yule) {
        const T crossed = (first - both) * (second - both);
        return crossed > 0 ? 2 * crossed / (both * (columns - either) + crossed) : T(0);
    }
}

// The distance in the precision of `Sum`, whatever the type of the rows; rows of sets hold 0 and 1.
template <int metric, class Sum, class T>
inline Sum pair_distance(const T* a, const T* b, std::int64_t d, const T* params) {
    if constexpr (metric == metric_minkowski) return minkowski_distance<Sum>(a, b, d, static_cast<Sum>(params[0]));
    if constexpr (metric == metric_gower) return gower_distance<Sum>(a, b, d, params);
    Sum s = 0, t = 0, u = 0;
#pragma omp simd reduction(+ : s, t, u)
    for (std::int64_t j = 0; j < d; ++j) {
        const Sum x = static_cast<Sum>(a[j]), y = static_cast<Sum>(b[j]);
        if constexpr (metric == metric_canberra) {
            const Sum size = std::fabs(x) + std::fabs(y), ratio = std::fabs(x - y) / size;
            s += size > 0 ? ratio : Sum(0);
        } else if constexpr (metric == metric_braycurtis) {
            s += std::fabs(x - y);
            t += std::fabs(x + y);
        } else if constexpr (metric == metric_differing) {
            s += x != y ? Sum(1) : Sum(0);
        } else {
            s += x * y;
            t += x;
            u += y;
        }
    }
    if constexpr (metric == metric_braycurtis) return t > 0 ? s / t : s > 0 ? static_cast<Sum>(HUGE_VAL) : Sum(0);
    if constexpr (compares_bits(metric)) return set_distance<metric, Sum>(s, t, u, static_cast<Sum>(d));
    return s;
}
