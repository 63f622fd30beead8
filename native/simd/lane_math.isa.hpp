// Vectors with one lane per row, and the few operations on them that compilers do not provide.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

#if defined(__GNUC__)
constexpr int row_lanes = lanes;
typedef Floats RowFloats;
typedef std::int32_t RowInts __attribute__((vector_size(row_lanes * 4)));
typedef std::uint32_t RowUints __attribute__((vector_size(row_lanes * 4)));

inline RowFloats to_floats(RowInts v) { return __builtin_convertvector(v, RowFloats); }
inline RowInts to_ints(RowFloats v) { return __builtin_convertvector(v, RowInts); }
inline RowInts bits_as_ints(RowFloats v) { return (RowInts)v; }
inline RowFloats bits_as_floats(RowInts v) { return (RowFloats)v; }
inline RowFloats set_floats(float v) { return v - RowFloats{}; }
inline RowUints set_uints(std::uint32_t v) { return v - RowUints{}; }
inline float* floats_of(RowFloats& v) { return reinterpret_cast<float*>(&v); }
inline RowInts load_ints(const std::int32_t* p) {
    RowInts out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
}
inline RowFloats load_floats(const float* p) {
    RowFloats out;
    __builtin_memcpy(&out, p, sizeof out);
    return out;
}
#else
// One row at a time, for compilers without vector types.
constexpr int row_lanes = 1;
typedef float RowFloats;
typedef std::int32_t RowInts;
typedef std::uint32_t RowUints;

inline RowFloats to_floats(RowInts v) { return static_cast<float>(v); }
inline RowInts to_ints(RowFloats v) { return static_cast<std::int32_t>(v); }
inline RowInts bits_as_ints(RowFloats v) { return std::bit_cast<std::int32_t>(v); }
inline RowFloats bits_as_floats(RowInts v) { return std::bit_cast<float>(v); }
inline RowFloats set_floats(float v) { return v; }
inline RowUints set_uints(std::uint32_t v) { return v; }
inline float* floats_of(RowFloats& v) { return &v; }
inline RowInts load_ints(const std::int32_t* p) { return *p; }
inline RowFloats load_floats(const float* p) { return *p; }
#endif

// The lane indices.
alignas(64) constexpr std::int32_t lane_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Stores first[0], second[0], first[1], second[1], …
#ifdef LOWDIM_SHUFFLES
template <int... l>
inline void store_interleaved(float* out, RowFloats first, RowFloats second, std::integer_sequence<int, l...>) {
    store(out, __builtin_shufflevector(first, second, (l % 2 ? row_lanes + l / 2 : l / 2)...));
    store(out + row_lanes, __builtin_shufflevector(first, second, (row_lanes / 2 + (l % 2 ? row_lanes + l / 2 : l / 2))...));
}
inline void store_interleaved(float* out, RowFloats first, RowFloats second) {
    store_interleaved(out, first, second, std::make_integer_sequence<int, row_lanes>{});
}
#else
inline void store_interleaved(float* out, RowFloats first, RowFloats second) {
    for (int l = 0; l < row_lanes; ++l) out[2 * l] = floats_of(first)[l], out[2 * l + 1] = floats_of(second)[l];
}
#endif

// v between low and high, lane by lane; NaN stays NaN. Compilers make two instructions of each comparison, not one.
inline RowFloats bounded(RowFloats v, float low, float high) {
#if defined(__AVX512F__)
    return (RowFloats)_mm512_max_ps(_mm512_set1_ps(low), _mm512_min_ps(_mm512_set1_ps(high), (__m512)v));
#elif defined(__AVX2__)
    return (RowFloats)_mm256_max_ps(_mm256_set1_ps(low), _mm256_min_ps(_mm256_set1_ps(high), (__m256)v));
#else
    v = v > high ? set_floats(high) : v;
    return v < low ? set_floats(low) : v;
#endif
}

// Loads base[at[l]] into lane l.
inline RowFloats gather(const float* base, RowInts at) {
#if defined(__AVX512F__)
    return (RowFloats)_mm512_i32gather_ps((__m512i)at, base, 4);
#elif defined(__AVX2__)
    return (RowFloats)_mm256_i32gather_ps(base, (__m256i)at, 4);
#elif defined(__GNUC__)
    RowFloats out;
    for (int l = 0; l < row_lanes; ++l) out[l] = base[at[l]];
    return out;
#else
    return base[at];
#endif
}

// Loads base[2 at[l]] and base[2 at[l] + 1]; adjacent values are fetched together.
inline void gather_pairs(const float* base, RowInts at, RowFloats& first, RowFloats& second) {
#if defined(__AVX512F__)
    const __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256((__m512i)at), base, 8);
    const __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64((__m512i)at, 1), base, 8);
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    first = (RowFloats)_mm512_permutex2var_epi32(low, even, high);
    second = (RowFloats)_mm512_permutex2var_epi32(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
#elif defined(__AVX2__)
    const double* pairs = reinterpret_cast<const double*>(base);
    const __m256 low = _mm256_castpd_ps(_mm256_i32gather_pd(pairs, _mm256_castsi256_si128((__m256i)at), 8));
    const __m256 high = _mm256_castpd_ps(_mm256_i32gather_pd(pairs, _mm256_extracti128_si256((__m256i)at, 1), 8));
    // a shuffle does not cross 128-bit halves, so the middle quarters are swapped afterwards
    const __m256 x = _mm256_shuffle_ps(low, high, 0x88), y = _mm256_shuffle_ps(low, high, 0xDD);
    first = (RowFloats)_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xD8));
    second = (RowFloats)_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(y), 0xD8));
#else
    first = gather(base, 2 * at);
    second = gather(base + 1, 2 * at);
#endif
}

// Loads p[0], p[2], p[4], … and p[1], p[3], p[5], …
#ifdef LOWDIM_SHUFFLES
template <int... l>
inline void load_pairs(const float* p, RowFloats& first, RowFloats& second, std::integer_sequence<int, l...>) {
    const RowFloats low = load_floats(p), high = load_floats(p + row_lanes);
    first = __builtin_shufflevector(low, high, (2 * l)...);
    second = __builtin_shufflevector(low, high, (2 * l + 1)...);
}
inline void load_pairs(const float* p, RowFloats& first, RowFloats& second) {
    load_pairs(p, first, second, std::make_integer_sequence<int, row_lanes>{});
}
#else
inline void load_pairs(const float* p, RowFloats& first, RowFloats& second) {
    for (int l = 0; l < row_lanes; ++l) floats_of(first)[l] = p[2 * l], floats_of(second)[l] = p[2 * l + 1];
}
#endif

// An integer hash (two rounds of multiply and xor-shift): every output bit depends on every input bit.
inline std::uint32_t mixed(std::uint32_t v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
}

// x^b for x >= 0 as 2^(b log2 x), both by polynomials: relative error below 1e-5 where the result lies between 2^-120 and
// 2^60; clamped to these ends beyond. x = 0 counts as 2^-127.
inline RowFloats fast_pow(RowFloats x, float b) {
    const RowInts root_half = (RowInts)set_uints(0x3f3504f3u);
    const RowInts bits = bits_as_ints(x) - root_half;
    const RowInts exponent = bits >> 23;
    const RowFloats f = bits_as_floats((bits & (RowInts)set_uints(0x7fffffu)) + root_half) - 1.0f;  // from sqrt(1/2) - 1 to sqrt(2) - 1
    RowFloats p = set_floats(0.17162436246871948f);
    p = p * f - 0.26932013034820557f;
    p = p * f + 0.2956995368003845f;
    p = p * f - 0.3593716621398926f;
    p = p * f + 0.48062676191329956f;
    p = p * f - 0.7213636040687561f;
    p = p * f + 1.442696452140808f;
    const RowFloats t = bounded(b * (to_floats(exponent) + p * f), -120.0f, 60.0f);
    const RowFloats whole = (t + 12582912.0f) - 12582912.0f;  // rounds to an integer
    const RowFloats r = t - whole;
    RowFloats q = set_floats(0.001327647129073739f);
    q = q * r + 0.009675540961325169f;
    q = q * r + 0.05550713092088699f;
    q = q * r + 0.24022120237350464f;
    q = q * r + 0.6931469440460205f;
    q = q * r + 1.0f;
    return q * bits_as_floats((to_ints(whole) + 127) << 23);
}

// out[i] = x[i]^b, exposed for the tests.
void fast_powers(const float* x, float b, float* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += row_lanes) {
        float part[row_lanes] = {};
        const std::int64_t here = std::min<std::int64_t>(row_lanes, count - i);
        std::copy(x + i, x + i + here, part);
        RowFloats result = fast_pow(load_floats(part), b);
        std::copy(floats_of(result), floats_of(result) + here, out + i);
    }
}
