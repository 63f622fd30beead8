// A vector register of floats, as wide as the instruction set provides.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Forced inlining, where a call would spill registers or change how products and sums are fused (and with it the last bit).
#if defined(__GNUC__)
#define LOWDIM_INLINE inline __attribute__((always_inline))
#else
#define LOWDIM_INLINE inline
#endif

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

#if defined(__GNUC__)
typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));
typedef float UnalignedFloats __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));

inline Floats load(const float* p) { return *reinterpret_cast<const UnalignedFloats*>(p); }
inline void store(float* p, Floats v) { *reinterpret_cast<UnalignedFloats*>(p) = v; }
inline Floats broadcast(float value) { return value - Floats{}; }
inline Floats vmax(Floats a, Floats b) { return a > b ? a : b; }
inline Floats vabs(Floats a) { return vmax(a, -a); }
#else
// The same with loops, for compilers without vector types.
struct Floats {
    float of[lanes];
    float operator[](int l) const { return of[l]; }
};
template <class Step>
inline Floats each(const Step& step) {
    Floats out;
    for (int l = 0; l < lanes; ++l) out.of[l] = step(l);
    return out;
}
inline Floats operator+(Floats a, Floats b) {
    return each([&](int l) { return a[l] + b[l]; });
}
inline Floats operator-(Floats a, Floats b) {
    return each([&](int l) { return a[l] - b[l]; });
}
inline Floats operator*(Floats a, Floats b) {
    return each([&](int l) { return a[l] * b[l]; });
}
inline Floats operator*(float a, Floats b) {
    return each([&](int l) { return a * b[l]; });
}
inline Floats& operator+=(Floats& a, Floats b) { return a = a + b; }
inline Floats load(const float* p) {
    return each([&](int l) { return p[l]; });
}
inline void store(float* p, Floats v) { std::copy(v.of, v.of + lanes, p); }
inline Floats broadcast(float value) {
    return each([&](int) { return value; });
}
inline Floats vmax(Floats a, Floats b) {
    return each([&](int l) { return a[l] > b[l] ? a[l] : b[l]; });
}
inline Floats vabs(Floats a) {
    return vmax(a, each([&](int l) { return -a[l]; }));
}
#endif

// Bit l is set where a[l] <= b[l].
inline unsigned le_mask(Floats a, Floats b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
#elif defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ)));
#else
    unsigned bits = 0;
    for (int l = 0; l < lanes; ++l) bits |= static_cast<unsigned>(a[l] <= b[l]) << l;
    return bits;
#endif
}

inline float reduce_sum(Floats v) {
    float part[lanes];
    store(part, v);
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
}

inline float reduce_max(Floats v) {
    float part[lanes];
    store(part, v);
    float out = part[0];
    for (int l = 1; l < lanes; ++l) out = part[l] > out ? part[l] : out;
    return out;
}

#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define LOWDIM_SHUFFLES 1
#endif
#endif

#ifdef LOWDIM_SHUFFLES
// One step of a transpose: swaps the off-diagonal squares of side `half` in every square of side 2 half.
template <int half, int... l>
inline void swap_squares(Floats* rows, std::integer_sequence<int, l...>) {
    for (int i = 0; i < lanes; ++i) {
        if (i & half) continue;
        const Floats a = rows[i], b = rows[i + half];
        rows[i] = __builtin_shufflevector(a, b, (l & half ? lanes + l - half : l)...);
        rows[i + half] = __builtin_shufflevector(a, b, (l & half ? lanes + l : l + half)...);
    }
}

template <int half = 1>
inline void transpose(Floats* rows) {
    swap_squares<half>(rows, std::make_integer_sequence<int, lanes>{});
    if constexpr (2 * half < lanes) transpose<2 * half>(rows);
}
#else
inline void transpose(Floats* rows) {
    float square[lanes][lanes];
    for (int i = 0; i < lanes; ++i) store(square[i], rows[i]);
    for (int i = 0; i < lanes; ++i) {
        float row[lanes];
        for (int l = 0; l < lanes; ++l) row[l] = square[l][i];
        rows[i] = load(row);
    }
}
#endif
