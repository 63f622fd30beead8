// Products of rows with a narrow matrix, in one fixed order of summation for every row.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr int product_registers = lanes >= 16 ? 24 : 12;  // of sums; the others hold columns of V and an entry of X

// out (R, C vectors) += X V for R rows of X, columns first … last: sums of at most panel_columns products in the precision of
// X, added in double.
template <class T, int R, int C>
void add_row_products(const RowBlock<T>& x, std::int64_t i, std::int64_t first, std::int64_t last, const T* v, std::int64_t k,
                      double* out) {
    using V = VectorOf<T>;
    typename V::Vec sums[R][C] = {};
    const T* rows[R];
    for (int r = 0; r < R; ++r) rows[r] = x.row(i + r);
    for (std::int64_t j = first; j < last; ++j) {
        typename V::Vec columns[C];
        for (int c = 0; c < C; ++c) columns[c] = V::load(v + j * k + c * V::width);
        for (int r = 0; r < R; ++r) {
            const auto entry = V::broadcast(rows[r][j]);
            for (int c = 0; c < C; ++c) sums[r][c] += entry * columns[c];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            T part[V::width];
            V::store(part, sums[r][c]);
            for (int l = 0; l < V::width; ++l) out[(i + r) * k + c * V::width + l] += static_cast<double>(part[l]);
        }
}

// Rows i … end of X with C vectors of columns of V, which start at v. A row is summed in the same order, in whichever tile it is.
template <class T, int C>
void multiply_row_tiles(const RowBlock<T>& x, std::int64_t i, std::int64_t end, std::int64_t first, std::int64_t last, const T* v,
                        std::int64_t k, double* out) {
    constexpr int R = product_registers / C;
    for (; i + R <= end; i += R) add_row_products<T, R, C>(x, i, first, last, v, k, out);
    for (; i < end; ++i) add_row_products<T, 1, C>(x, i, first, last, v, k, out);
}

constexpr std::int64_t product_rows = 24;  // that stay in the first cache while all columns of V pass

// out (m, k) += X V for rows X (m, d) and the first `columns` columns of V, of k; of the others it may add some too.
// The bits of a row do not depend on the rows beside it, as those of BLAS do. k must be a multiple of half_symmetric_padding.
template <class T>
void row_products(const RowBlock<T>& x, const T* v, std::int64_t columns, std::int64_t k, double* out) {
    constexpr std::int64_t width = VectorOf<T>::width;
    for (std::int64_t first = 0; first < x.columns; first += panel_columns) {
        const auto last = std::min(first + panel_columns, x.columns);
        for (std::int64_t i = 0; i < x.rows; i += product_rows) {
            const auto end = std::min(i + product_rows, x.rows);
            std::int64_t c = 0;
            if constexpr (lanes >= 16)
                for (; c + 3 * width < columns; c += 4 * width)
                    multiply_row_tiles<T, 4>(x, i, end, first, last, v + c, k, out + c);
            for (; c + width < columns; c += 2 * width) multiply_row_tiles<T, 2>(x, i, end, first, last, v + c, k, out + c);
            for (; c < columns; c += width) multiply_row_tiles<T, 1>(x, i, end, first, last, v + c, k, out + c);
        }
    }
}
