// Passes over a chunk of rows, shared by Moments, transform and the centered operators.
// A chunk is small enough to stay in cache, so each pass is bound by loads alone.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// sums[c, j] = sum of w_i x_ij over the rows of class c. Returns false if any sum is not finite.
template <class T>
bool column_sums(const RowBlock<T>& x, const std::int32_t* codes, const double* weights, double* sums, std::int64_t classes) {
    // Sums of a few rows stay in registers before they are added to memory.
    constexpr std::int64_t few = 32;
    const std::int64_t d = x.columns;
    std::fill(sums, sums + classes * d, 0.0);
    const bool plain = codes == nullptr && weights == nullptr;
    for (std::int64_t begin = 0; begin < x.rows; begin += few) {
        const std::int64_t end = std::min(begin + few, x.rows);
        if (plain) {
            for (std::int64_t j0 = 0; j0 < d; j0 += 64) {
                const std::int64_t width = std::min<std::int64_t>(64, d - j0);
                double local[64] = {};
                for (std::int64_t i = begin; i < end; ++i) {
                    const T* row = x.row(i) + j0;
#pragma omp simd
                    for (std::int64_t j = 0; j < width; ++j) local[j] += static_cast<double>(row[j]);
                }
                for (std::int64_t j = 0; j < width; ++j) sums[j0 + j] += local[j];
            }
            continue;
        }
        for (std::int64_t i = begin; i < end; ++i) {
            const T* row = x.row(i);
            double* sum = sums + (codes == nullptr ? 0 : codes[i]) * d;
            const double weight = weights == nullptr ? 1.0 : weights[i];
#pragma omp simd
            for (std::int64_t j = 0; j < d; ++j) sum[j] += weight * static_cast<double>(row[j]);
        }
    }
    bool finite = true;
    for (std::int64_t j = 0; j < classes * d; ++j) finite &= std::isfinite(sums[j]);
    return finite;
}

// out[i, j] = (x_ij - mean[class of i, j]) * scale_j * root_weight_i, with the difference in double precision.
// Returns false if any value is not finite.
template <class T>
bool center(const RowBlock<T>& x, const std::int32_t* codes, const double* means, const double* scale, const double* root_weights, T* out) {
    const std::int64_t d = x.columns;
    bool finite = true;
    for (std::int64_t i = 0; i < x.rows; ++i) {
        const T* row = x.row(i);
        const double* mean = means + (codes == nullptr ? 0 : codes[i]) * d;
        T* target = out + i * d;
        T probe = 0;  // 0 * finite stays 0; anything else becomes NaN
        if (scale == nullptr && root_weights == nullptr) {
#pragma omp simd reduction(+ : probe)
            for (std::int64_t j = 0; j < d; ++j) {
                target[j] = static_cast<T>(static_cast<double>(row[j]) - mean[j]);
                probe += target[j] * T(0);
            }
        } else {
            const double root = root_weights == nullptr ? 1.0 : root_weights[i];
#pragma omp simd reduction(+ : probe)
            for (std::int64_t j = 0; j < d; ++j) {
                const double factor = scale == nullptr ? root : root * scale[j];
                target[j] = static_cast<T>((static_cast<double>(row[j]) - mean[j]) * factor);
                probe += target[j] * T(0);
            }
        }
        finite &= probe == T(0);
    }
    return finite;
}

// out = x - shift and the column sums of out, in one pass. Returns false if one is not finite.
template <class T>
bool shift_rows(const RowBlock<T>& x, const T* shift, T* out, double* sums) {
    constexpr std::int64_t few = 32;  // rows whose sums stay in registers, in T, before they are added in double
    constexpr std::int64_t width = 64;
    const std::int64_t d = x.columns;
    std::fill(sums, sums + d, 0.0);
    for (std::int64_t begin = 0; begin < x.rows; begin += few) {
        const std::int64_t end = std::min(begin + few, x.rows);
        for (std::int64_t j0 = 0; j0 < d; j0 += width) {
            const std::int64_t wide = std::min(width, d - j0);
            T local[width] = {};
            for (std::int64_t i = begin; i < end; ++i) {
                const T* row = x.row(i) + j0;
                T* target = out + i * d + j0;
                if (wide == width) {
#pragma omp simd
                    for (std::int64_t j = 0; j < width; ++j) {
                        target[j] = row[j] - shift[j0 + j];
                        local[j] += target[j];
                    }
                } else {
#pragma omp simd
                    for (std::int64_t j = 0; j < wide; ++j) {
                        target[j] = row[j] - shift[j0 + j];
                        local[j] += target[j];
                    }
                }
            }
            for (std::int64_t j = 0; j < wide; ++j) sums[j0 + j] += static_cast<double>(local[j]);
        }
    }
    bool finite = true;
    for (std::int64_t j = 0; j < d; ++j) finite &= std::isfinite(sums[j]);
    return finite;
}

// part -= factor v vᵀ.
template <class T>
void subtract_outer(T* part, const double* v, double factor, std::int64_t d) {
    for (std::int64_t i = 0; i < d; ++i) {
        const double scaled = factor * v[i];
        if (scaled == 0.0) continue;
        T* row = part + i * d;
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j) row[j] = static_cast<T>(static_cast<double>(row[j]) - scaled * v[j]);
    }
}

// sum += part + shiftsᵀ shifts: a chunk's scatter and the scatter between the means, in one pass.
template <class T>
void add_scatter(double* sum, const T* part, const double* shifts, std::int64_t classes, std::int64_t d) {
    for (std::int64_t i = 0; i < d; ++i) {
        double* row = sum + i * d;
        const T* add = part + i * d;
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j) row[j] += static_cast<double>(add[j]);
        for (std::int64_t c = 0; c < classes; ++c) {
            const double* shift = shifts + c * d;
            const double factor = shift[i];
            if (factor == 0.0) continue;
#pragma omp simd
            for (std::int64_t j = 0; j < d; ++j) row[j] += factor * shift[j];
        }
    }
}
