// The Gram matrix of geodesic distances, by double centering, and its products.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Squares the distances of a row; returns their sum.
double square_row(float* row, std::int64_t n) {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t j = 0; j < n; ++j) {
        row[j] *= row[j];
        total += static_cast<double>(row[j]);
    }
    return total;
}

// b = -(d² - row mean - column mean + grand mean) / 2; `shift` is grand mean - row mean. Returns Σ b².
double double_center_row(float* row, const double* means, double shift, std::int64_t n) {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t j = 0; j < n; ++j) {
        const double b = -0.5 * (static_cast<double>(row[j]) - means[j] + shift);
        row[j] = static_cast<float>(b);
        total += b * b;
    }
    return total;
}

template <int rows>
void gram_rows(const float* gram, std::int64_t n, const double* v, std::int64_t k, double* out) {
    for (std::int64_t first = 0; first < k; first += 8) {
        const std::int64_t width = std::min<std::int64_t>(8, k - first);
        double sum[rows][8] = {};
        if (width == 8) {
            for (std::int64_t j = 0; j < n; ++j) {
                const double* right = v + j * k + first;
                for (int i = 0; i < rows; ++i) {
                    const double value = static_cast<double>(gram[i * n + j]);
#pragma omp simd
                    for (int c = 0; c < 8; ++c) sum[i][c] += value * right[c];
                }
            }
        } else {
            for (std::int64_t j = 0; j < n; ++j)
                for (int i = 0; i < rows; ++i)
                    for (std::int64_t c = 0; c < width; ++c) sum[i][c] += static_cast<double>(gram[i * n + j]) * v[j * k + first + c];
        }
        for (int i = 0; i < rows; ++i) std::copy(sum[i], sum[i] + width, out + i * k + first);
    }
}

// out (rows, k) = G V, summed in double.
void gram_times(const float* gram, std::int64_t rows, std::int64_t n, const double* v, std::int64_t k, double* out) {
    std::int64_t i = 0;
    for (; i + 4 <= rows; i += 4) gram_rows<4>(gram + i * n, n, v, k, out + i * k);
    for (; i < rows; ++i) gram_rows<1>(gram + i * n, n, v, k, out + i * k);
}

// Sums over the pairs (one row, every other) for a correlation, for 1, 2 … k components:
// out = Σ g, Σ g², then for each number of components Σ e, Σ e², Σ g e.
// g² = from.own + other[j] + from.factor row[j]; e is the distance in the embedding z (k, n) from from.position (k).
void correlation_sums(const GeodesicRow& from, const double* other, const double* z, std::int64_t n, std::int64_t k, double* out) {
    constexpr std::int64_t chunk = 512;
    double geodesic[chunk], squared[chunk];
    std::fill(out, out + 2 + 3 * k, 0.0);
    for (std::int64_t first = 0; first < n; first += chunk) {
        const std::int64_t count = std::min(chunk, n - first);
        double total = 0, squares = 0;
#pragma omp simd reduction(+ : total, squares)
        for (std::int64_t j = 0; j < count; ++j) {
            const double square = from.own + other[first + j] + from.factor * static_cast<double>(from.row[first + j]);
            geodesic[j] = std::sqrt(square > 0 ? square : 0.0);
            squared[j] = 0;
            total += geodesic[j];
            squares += geodesic[j] * geodesic[j];
        }
        out[0] += total;
        out[1] += squares;
        for (std::int64_t c = 0; c < k; ++c) {
            const double here = from.position[c];
            const double* there = z + c * n + first;
            double e = 0, ee = 0, ge = 0;
#pragma omp simd reduction(+ : e, ee, ge)
            for (std::int64_t j = 0; j < count; ++j) {
                squared[j] += (here - there[j]) * (here - there[j]);
                const double distance = std::sqrt(squared[j]);
                e += distance;
                ee += squared[j];
                ge += geodesic[j] * distance;
            }
            out[2 + 3 * c] += e;
            out[3 + 3 * c] += ee;
            out[4 + 3 * c] += ge;
        }
    }
}
