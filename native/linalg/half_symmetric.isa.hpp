// Products of a symmetric matrix with a narrow one, from the stored half.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr std::int64_t panel_columns = 256;  // this many rows of V, and of the sums added to them, stay in cache

#if defined(__GNUC__)
template <class T>
struct VectorOf {
    typedef T Vec __attribute__((vector_size(lanes * sizeof(float))));
    typedef T UnalignedVec __attribute__((vector_size(lanes * sizeof(float)), aligned(sizeof(T)), may_alias));
    static constexpr int width = lanes * sizeof(float) / sizeof(T);
    static Vec load(const T* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
    static void store(T* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }
    static Vec broadcast(T value) { return value - Vec{}; }
};
#else
template <class T>
struct VectorOf {
    typedef T Vec;
    static constexpr int width = 1;
    static Vec load(const T* p) { return *p; }
    static void store(T* p, Vec v) { *p = v; }
    static Vec broadcast(T value) { return value; }
};
#endif

// Rows i … i + R of the strip, columns first … last, C vectors of V's columns. Each entry is read once and used for its own
// row and, transposed, for its column.
template <class T, int R, int C, bool transposed>
void multiply_rows(const RowBlock<T>& strip, std::int64_t i, std::int64_t first, std::int64_t last, const T* v, std::int64_t k,
                   const T* v_own, double* own, T* above) {
    using V = VectorOf<T>;
    typename V::Vec sums[R][C] = {}, v_rows[R][C];
    const T* rows[R];
    for (int r = 0; r < R; ++r) {
        rows[r] = strip.row(i + r);
        for (int c = 0; c < C; ++c) v_rows[r][c] = V::load(v_own + (i + r) * k + c * V::width);
    }
    for (std::int64_t j = first; j < last; ++j) {
        typename V::Vec v_columns[C], column_sums[C];
        for (int c = 0; c < C; ++c) {
            v_columns[c] = V::load(v + j * k + c * V::width);
            if constexpr (transposed) column_sums[c] = V::load(above + j * k + c * V::width);
        }
        for (int r = 0; r < R; ++r) {
            const auto entry = V::broadcast(rows[r][j]);
            for (int c = 0; c < C; ++c) {
                sums[r][c] += entry * v_columns[c];
                if constexpr (transposed) column_sums[c] += entry * v_rows[r][c];
            }
        }
        if constexpr (transposed)
            for (int c = 0; c < C; ++c) V::store(above + j * k + c * V::width, column_sums[c]);
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            T part[V::width];
            V::store(part, sums[r][c]);
            for (int l = 0; l < V::width; ++l) own[(i + r) * k + c * V::width + l] += static_cast<double>(part[l]);
        }
}

template <class T, bool transposed>
void multiply_panel(const RowBlock<T>& strip, std::int64_t first, std::int64_t last, const T* v, std::int64_t k, const T* v_own,
                    double* own, T* above) {
    constexpr int C = half_symmetric_padding / VectorOf<T>::width >= 2 && lanes >= 16 ? 2 : 1;  // as many as fit in registers
    for (std::int64_t c = 0; c < k; c += C * VectorOf<T>::width) {
        std::int64_t i = 0;
        for (; i + 4 <= strip.rows; i += 4)
            multiply_rows<T, 4, C, transposed>(strip, i, first, last, v + c, k, v_own + c, own + c, above + c);
        for (; i < strip.rows; ++i) multiply_rows<T, 1, C, transposed>(strip, i, first, last, v + c, k, v_own + c, own + c, above + c);
    }
}

// For rows start … start + m of a symmetric matrix up to their diagonal block, strip (m, start + m):
// own (m, k) += strip V[: start + m], and above (start, k) += strip[:, : start]ᵀ V[start : start + m].
// k must be a multiple of half_symmetric_padding.
template <class T>
void half_symmetric_times(const RowBlock<T>& strip, std::int64_t start, const T* v, std::int64_t k, double* own, T* above) {
    const T* v_own = v + start * k;
    for (std::int64_t first = 0; first < start; first += panel_columns)
        multiply_panel<T, true>(strip, first, std::min(first + panel_columns, start), v, k, v_own, own, above);
    for (std::int64_t first = start; first < strip.columns; first += panel_columns)
        multiply_panel<T, false>(strip, first, std::min(first + panel_columns, strip.columns), v, k, v_own, own, above);
}
