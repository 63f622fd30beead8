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
inline Sum largest_difference(const T* a, const T* b, std::int64_t d) {
    Sum largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::int64_t j = 0; j < d; ++j) largest = std::max(largest, std::fabs(static_cast<Sum>(a[j]) - static_cast<Sum>(b[j])));
    return largest;
}

// In parts that are filled up with zeros to whole registers: a power costs much more than reading a column.
template <class Sum, class T>
inline Sum sum_of_any_powers(const T* a, const T* b, std::int64_t d, Sum p, Sum unit) {
    constexpr std::int64_t most = 64, whole = 16;
    Sum part[most], sum = 0;
    for (std::int64_t start = 0; start < d; start += most) {
        const std::int64_t count = std::min(most, d - start), padded = (count + whole - 1) / whole * whole;
        for (std::int64_t j = 0; j < count; ++j)
            part[j] = std::fabs(static_cast<Sum>(a[start + j]) - static_cast<Sum>(b[start + j])) * unit;
        for (std::int64_t j = count; j < padded; ++j) part[j] = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < padded; ++j) sum += nonnegative_power(part[j], p);
    }
    return sum;
}

template <class Sum, class T>
inline Sum minkowski_distance(const T* a, const T* b, std::int64_t d, Sum p) {
    if (p == 3) return std::cbrt(sum_of_powers<Sum>(a, b, d, [](Sum x) { return x * x * x; }));
    if (p == 4) return std::sqrt(std::sqrt(sum_of_powers<Sum>(a, b, d, [](Sum x) { return (x * x) * (x * x); })));
    if (p == Sum(1.5)) {
        const Sum root = std::cbrt(sum_of_powers<Sum>(a, b, d, [](Sum x) { return x * std::sqrt(x); }));
        return root * root;
    }
    // In units of the largest difference, no power overflows and the largest is 1.
    const Sum largest = largest_difference<Sum>(a, b, d);
    if (largest < std::numeric_limits<Sum>::min()) return largest;  // 1 / largest is infinite
    const Sum sum = sum_of_any_powers(a, b, d, p, 1 / largest);
    return largest * nonnegative_power(sum, 1 / p);
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

// The distance of two sets whose elements are bits of 64-bit words, in float32; `columns` is the parameter of the metric.
template <int metric>
inline float words_distance(const float* a, const float* b, std::int64_t words, const float* params) {
    std::int64_t differ = 0, both = 0, first = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        std::uint64_t left, right;  // a word takes the space of two floats
        std::memcpy(&left, a + 2 * w, sizeof left);
        std::memcpy(&right, b + 2 * w, sizeof right);
        differ += __builtin_popcountll(left ^ right);
        if (metric != metric_hamming) both += __builtin_popcountll(left & right);
        if (metric == metric_yule) first += __builtin_popcountll(left);
    }
    if constexpr (metric == metric_hamming) return static_cast<float>(differ);
    if (metric != metric_yule) first = both + differ;  // all but Yule's depend on the number of differences alone
    const auto shared = static_cast<double>(both), own = static_cast<double>(first);
    const double other = 2 * shared + static_cast<double>(differ) - own;
    const double columns = params == nullptr ? 0.0 : static_cast<double>(params[0]);
    return static_cast<float>(set_distance<metric>(shared, own, other, columns));
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
