// Products of a symmetric matrix with a narrow one, from the half of it that is stored.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

constexpr std::int64_t mirror_columns = 256;  // V and what is added to it stay in the cache

#if defined(__GNUC__)
template <class T>
struct Vectors {
    typedef T Wide __attribute__((vector_size(lanes * sizeof(float))));
    typedef T Loose __attribute__((vector_size(lanes * sizeof(float)), aligned(sizeof(T)), may_alias));
    static constexpr int width = lanes * sizeof(float) / sizeof(T);
    static Wide load(const T* p) { return *reinterpret_cast<const Loose*>(p); }
    static void store(T* p, Wide v) { *reinterpret_cast<Loose*>(p) = v; }
    static Wide spread(T value) { return value - Wide{}; }
};
#else
template <class T>
struct Vectors {
    typedef T Wide;
    static constexpr int width = 1;
    static Wide load(const T* p) { return *p; }
    static void store(T* p, Wide v) { *p = v; }
    static Wide spread(T value) { return value; }
};
#endif

// Rows i … i + R of the strip, columns first … last, C vectors of V's columns: each entry is read once and serves its own
// row and, mirrored, its column.
template <class T, int R, int C, bool mirrored>
void mirror_rows(const RowBlock<T>& strip, std::int64_t i, std::int64_t first, std::int64_t last, const T* v,
                 std::int64_t k, const T* v_own, double* own, T* above) {
    using V = Vectors<T>;
    typename V::Wide sums[R][C] = {}, mine[R][C];
    const T* rows[R];
    for (int r = 0; r < R; ++r) {
        rows[r] = strip.row(i + r);
        for (int c = 0; c < C; ++c) mine[r][c] = V::load(v_own + (i + r) * k + c * V::width);
    }
    for (std::int64_t j = first; j < last; ++j) {
        typename V::Wide other[C], back[C];
        for (int c = 0; c < C; ++c) {
            other[c] = V::load(v + j * k + c * V::width);
            if constexpr (mirrored) back[c] = V::load(above + j * k + c * V::width);
        }
        for (int r = 0; r < R; ++r) {
            const auto entry = V::spread(rows[r][j]);
            for (int c = 0; c < C; ++c) {
                sums[r][c] += entry * other[c];
                if constexpr (mirrored) back[c] += entry * mine[r][c];
            }
        }
        if constexpr (mirrored)
            for (int c = 0; c < C; ++c) V::store(above + j * k + c * V::width, back[c]);
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            T part[V::width];
            V::store(part, sums[r][c]);
            for (int l = 0; l < V::width; ++l) own[(i + r) * k + c * V::width + l] += static_cast<double>(part[l]);
        }
}

template <class T, bool mirrored>
void mirror_panel(const RowBlock<T>& strip, std::int64_t first, std::int64_t last, const T* v, std::int64_t k,
                  const T* v_own, double* own, T* above) {
    constexpr int C = mirror_width / Vectors<T>::width >= 2 && lanes >= 16 ? 2 : 1;  // as many as the registers hold
    for (std::int64_t c = 0; c < k; c += C * Vectors<T>::width) {
        std::int64_t i = 0;
        for (; i + 4 <= strip.rows; i += 4)
            mirror_rows<T, 4, C, mirrored>(strip, i, first, last, v + c, k, v_own + c, own + c, above + c);
        for (; i < strip.rows; ++i)
            mirror_rows<T, 1, C, mirrored>(strip, i, first, last, v + c, k, v_own + c, own + c, above + c);
    }
}

// For rows start … start + m of a symmetric matrix up to their diagonal block, strip (m, start + m):
// own (m, k) += strip V[: start + m], and above (start, k) += strip[:, : start]ᵀ V[start : start + m].
// k must be a multiple of mirror_width.
template <class T>
void mirrored_times(const RowBlock<T>& strip, std::int64_t start, const T* v, std::int64_t k, double* own, T* above) {
    const T* v_own = v + start * k;
    for (std::int64_t first = 0; first < start; first += mirror_columns)
        mirror_panel<T, true>(strip, first, std::min(first + mirror_columns, start), v, k, v_own, own, above);
    for (std::int64_t first = start; first < strip.columns; first += mirror_columns)
        mirror_panel<T, false>(strip, first, std::min(first + mirror_columns, strip.columns), v, k, v_own, own, above);
}
