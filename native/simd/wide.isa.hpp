// A vector register of floats or doubles, by type, and elementary functions on it.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

#if defined(__GNUC__)
template <class T>
struct WideTypes;
template <>
struct WideTypes<float> {
    typedef Floats numbers;
    typedef std::int32_t integers __attribute__((vector_size(lanes * 4)));
};
template <>
struct WideTypes<double> {
    typedef double numbers __attribute__((vector_size(lanes * 4)));
    typedef std::int64_t integers __attribute__((vector_size(lanes * 4)));
};
template <class T>
constexpr int wide_lanes = lanes * 4 / static_cast<int>(sizeof(T));

template <class T>
LOWDIM_INLINE typename WideTypes<T>::integers wide_bits(typename WideTypes<T>::numbers v) {
    return (typename WideTypes<T>::integers)v;
}
template <class T>
LOWDIM_INLINE typename WideTypes<T>::numbers wide_numbers(typename WideTypes<T>::integers v) {
    return (typename WideTypes<T>::numbers)v;
}
#else
// One number at a time, for compilers without vector types.
template <class T>
struct WideTypes {
    typedef T numbers;
    typedef std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> integers;
};
template <class T>
constexpr int wide_lanes = 1;

template <class T>
inline typename WideTypes<T>::integers wide_bits(T v) {
    return std::bit_cast<typename WideTypes<T>::integers>(v);
}
template <class T>
inline T wide_numbers(typename WideTypes<T>::integers v) {
    return std::bit_cast<T>(v);
}
#endif

template <class T>
using Wide = typename WideTypes<T>::numbers;

template <class T>
LOWDIM_INLINE Wide<T> wide_load(const T* p) {
    Wide<T> out;
    std::memcpy(&out, p, sizeof out);
    return out;
}

template <class T>
LOWDIM_INLINE void wide_store(T* p, Wide<T> v) {
    std::memcpy(p, &v, sizeof v);
}

template <class T>
LOWDIM_INLINE Wide<T> wide_set(T value) {
    return value - Wide<T>{};
}

// A register of doubles from as many numbers of any precision.
template <class T>
LOWDIM_INLINE Wide<double> wide_doubles(const T* p) {
    if constexpr (sizeof(T) == 8) return wide_load<double>(p);
#if defined(__GNUC__)
    typedef T Narrow __attribute__((vector_size(wide_lanes<double> * sizeof(T))));
    Narrow v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, Wide<double>);
#else
    return static_cast<double>(*p);
#endif
}

// The sum of the lanes, in double precision and in a fixed order.
template <class T>
LOWDIM_INLINE double wide_sum(Wide<T> v) {
    T part[wide_lanes<T>];
    wide_store<T>(part, v);
    double sum = 0;
    for (int l = 0; l < wide_lanes<T>; ++l) sum += static_cast<double>(part[l]);
    return sum;
}

// exp(x) for x <= 0: 2^n times Taylor's polynomial of the rest, which is at most ln 2 / 2. Relative error below 4 eps;
// below -700 (-86 in single precision) it is that of the limit.
template <class T>
LOWDIM_INLINE Wide<T> exp_nonpositive(Wide<T> x) {
    constexpr bool single = sizeof(T) == 4;
    constexpr T lowest = single ? T(-86) : T(-700), to_integer = single ? T(12582912.0) : T(6755399441055744.0);
    constexpr T high = single ? T(0.693145751953125) : T(0.693147180369123816490);  // ln 2 in two parts
    constexpr T low = single ? T(1.42860682030941723212e-6) : T(1.90821492927058770002e-10);
    constexpr int mantissa = single ? 23 : 52, degree = single ? 7 : 12;
    constexpr double factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600};
    x = x < lowest ? wide_set<T>(lowest) : x;
    const Wide<T> shifted = x * T(1.4426950408889634) + to_integer;  // its last bits hold n
    const Wide<T> whole = shifted - to_integer;
    const Wide<T> rest = (x - whole * high) - whole * low;
    Wide<T> sum = wide_set<T>(T(1 / factorials[degree]));
    for (int i = degree - 1; i >= 0; --i) sum = sum * rest + T(1 / factorials[i]);
    return wide_numbers<T>(wide_bits<T>(sum) + (wide_bits<T>(shifted) << mantissa));
}

// log(1 + e) for 0 <= e <= 1: the series of atanh, at (u - 1) / (u + 1) for u = 1 + e or half of it. Absolute error below 2 eps.
template <class T>
LOWDIM_INLINE Wide<T> log_one_plus(Wide<T> e) {
    constexpr int terms = sizeof(T) == 4 ? 5 : 11;
    const Wide<T> zero = wide_set<T>(T(0)), limit = wide_set<T>(T(0.41421356237309505));
    const Wide<T> s = (e > limit ? e - T(1) : e) / (e > limit ? e + T(3) : e + T(2));
    const Wide<T> square = s * s;
    Wide<T> sum = wide_set<T>(T(2.0 / (2 * terms - 1)));
    for (int i = terms - 2; i >= 0; --i) sum = sum * square + T(2.0 / (2 * i + 1));
    return s * sum + (e > limit ? wide_set<T>(T(0.69314718055994531)) : zero);
}
