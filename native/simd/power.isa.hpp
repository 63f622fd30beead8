// Powers of non-negative numbers, without branches or calls, so that a loop over them is vectorized.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

template <class T>
struct PowerFormat;
template <>
struct PowerFormat<float> {
    using Bits = std::uint32_t;
    static constexpr int fraction_bits = 23, bias = 127, log_terms = 5, exp_terms = 7;
};
template <>
struct PowerFormat<double> {
    using Bits = std::uint64_t;
    static constexpr int fraction_bits = 52, bias = 1023, log_terms = 11, exp_terms = 13;
};

// x^p for x >= 0 as 2^(p log2 x): log2 by the series of the inverse hyperbolic tangent, 2^f by Taylor's. The relative error is
// that of rounding p log2 x: below 1e-13 in double and 1e-5 in float, while the result is a normal number; below that it is 0.
template <class T>
inline T nonnegative_power(T x, T p) {
    using Format = PowerFormat<T>;
    using Bits = typename Format::Bits;
    constexpr int shift = Format::fraction_bits;
    constexpr Bits one = Bits{Format::bias} << shift, fraction = (Bits{1} << shift) - 1;
    constexpr T magic = static_cast<T>(Bits{1} << shift), rounder = T(1.5) * magic;  // adding them writes integers into the bits
    constexpr T ln2 = T(0.693147180559945309417), root_two = T(1.41421356237309504880);

    const Bits bits = std::bit_cast<Bits>(x);
    const T exponent = std::bit_cast<T>((bits >> shift) | std::bit_cast<Bits>(magic)) - (magic + Format::bias);
    const T significand = std::bit_cast<T>((bits & fraction) | one);
    const bool upper = significand > root_two;
    const T m = upper ? significand / 2 : significand, whole = upper ? exponent + 1 : exponent;
    const T s = (m - 1) / (m + 1), z = s * s;
    T series = 0;
#pragma GCC unroll 16
    for (int i = Format::log_terms; i >= 0; --i) series = series * z + T(1) / T(2 * i + 1);
    const T y = p * (whole + s * series * (2 / ln2));

    const T least = T(1 - Format::bias), most = T(Format::bias);
    const T bounded = y > most ? most : y < least ? least : y;
    const T shifted = bounded + rounder, f = (bounded - (shifted - rounder)) * ln2;
    T power = 1;
#pragma GCC unroll 16
    for (int i = Format::exp_terms; i >= 1; --i) power = power * (f * (T(1) / T(i))) + 1;
    const T scale = std::bit_cast<T>((std::bit_cast<Bits>(shifted) << shift) + one);
    return y < least ? T(0) : power * scale;
}
