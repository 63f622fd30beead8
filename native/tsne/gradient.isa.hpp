// The gradient of t-SNE: attraction along the affinities, exact repulsion, and a gradient step with momentum and gains.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Σ p (y_i - y_j) / (1 + d²/ν) over entries begin … end, added to `force`.
template <int D>
inline void attraction_scalar(const AffinityGraph& edges, const float* y, const float* here, std::int64_t begin, std::int64_t end,
                              float inverse_dof, float* force) {
    for (std::int64_t p = begin; p < end; ++p) {
        const float* there = y + static_cast<std::int64_t>(edges.columns[p]) * D;
        float x[D], square = 0;
        for (int a = 0; a < D; ++a) {
            x[a] = here[a] - there[a];
            square += x[a] * x[a];
        }
        const float w = edges.values[p] / (1.0f + inverse_dof * square);
        for (int a = 0; a < D; ++a) force[a] += w * x[a];
    }
}

#if defined(__AVX2__)
// Four points of the plane, fetched by plain loads, which are faster here than gather instructions.
inline __m256 load_four_points(const float* y, const std::int32_t* columns) {
    const auto pair = [y](std::int64_t a, std::int64_t b) {
        const __m128 first = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(y + 2 * a)));
        return _mm_loadh_pi(first, reinterpret_cast<const __m64*>(y + 2 * b));
    };
    return _mm256_insertf128_ps(_mm256_castps128_ps256(pair(columns[0], columns[1])), pair(columns[2], columns[3]), 1);
}

inline float reduce_sum_eight(__m256 v) {
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_shuffle_ps(sum, sum, 1)));
}

// The same sum in the plane, eight entries at a time; the remainder is padded with entries of zero weight.
inline void attraction_in_plane(const AffinityGraph& edges, const float* y, const float* here, std::int64_t begin, std::int64_t end,
                                float inverse_dof, float* force) {
    const __m256 x = _mm256_set1_ps(here[0]), z = _mm256_set1_ps(here[1]), one = _mm256_set1_ps(1.0f);
    const __m256 scale = _mm256_set1_ps(inverse_dof);
    const __m256i lane_order = _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7);  // the order left by the shuffles
    __m256 fx = _mm256_setzero_ps(), fz = _mm256_setzero_ps();
    const auto add = [&](const std::int32_t* columns, __m256 values) {
        const __m256 low = load_four_points(y, columns), high = load_four_points(y, columns + 4);
        const __m256 dx = _mm256_sub_ps(x, _mm256_shuffle_ps(low, high, 0x88));
        const __m256 dz = _mm256_sub_ps(z, _mm256_shuffle_ps(low, high, 0xdd));
        const __m256 base = _mm256_fmadd_ps(scale, _mm256_fmadd_ps(dx, dx, _mm256_mul_ps(dz, dz)), one);
        const __m256 w = _mm256_div_ps(_mm256_permutevar8x32_ps(values, lane_order), base);
        fx = _mm256_fmadd_ps(w, dx, fx);
        fz = _mm256_fmadd_ps(w, dz, fz);
    };
    std::int64_t p = begin;
    for (; p + 8 <= end; p += 8) add(edges.columns + p, _mm256_loadu_ps(edges.values + p));
    if (p < end) {
        const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(end - p)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        alignas(32) std::int32_t columns[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(columns), _mm256_maskload_epi32(edges.columns + p, mask));
        add(columns, _mm256_maskload_ps(edges.values + p, mask));
    }
    force[0] = reduce_sum_eight(fx);
    force[1] = reduce_sum_eight(fz);
}
#endif

template <int D>
inline void attraction(const AffinityGraph& edges, const float* y, const float* here, std::int64_t row, float inverse_dof, float* force) {
    const std::int64_t begin = edges.starts[row], end = edges.starts[row + 1];
#if defined(__AVX2__)
    if constexpr (D == 2) return attraction_in_plane(edges, y, here, begin, end, inverse_dof, force);
#endif
    for (int a = 0; a < D; ++a) force[a] = 0;
    attraction_scalar<D>(edges, y, here, begin, end, inverse_dof, force);
}

// One step of rows begin … end: momentum, one gain per coordinate, steps clipped to `max_step`.
template <int D>
void gradient_step(const AffinityGraph& edges, const GradientStep& options, const float* y, const float* repulsion, float* velocity,
                   float* gains, float* out, std::int64_t begin, std::int64_t end, double* sums) {
    for (std::int64_t i = begin; i < end; ++i) {
        float attracted[D];
        double square = 0;  // double, which does not overflow
        attraction<D>(edges, y, y + i * D, i, options.inverse_dof, attracted);
        for (int a = 0; a < D; ++a) {
            const std::int64_t at = i * D + a;
            const float gradient =
                options.gradient_factor * (options.exaggeration * attracted[a] - options.inverse_normalizer * repulsion[at]);
            const float product = gradient * velocity[at];  // positive where the last step went uphill
            const bool same_sign = product > 0 || (gradient == 0 && velocity[at] == 0);
            gains[at] = same_sign ? gains[at] * 0.8f + 0.01f : gains[at] + 0.2f;
            velocity[at] = options.momentum * velocity[at] - options.learning_rate * gains[at] * gradient;
            square += static_cast<double>(velocity[at]) * static_cast<double>(velocity[at]);
        }
        const double max_step = static_cast<double>(options.max_step);
        const float shrink = square > max_step * max_step ? static_cast<float>(max_step / std::sqrt(square)) : 1.0f;
        for (int a = 0; a < D; ++a) {
            const std::int64_t at = i * D + a;
            velocity[at] *= shrink;
            out[at] = y[at] + velocity[at];
            sums[a] += static_cast<double>(out[at]);
        }
    }
}

// Σ p log(1 + d²/ν) over rows begin … end.
template <int D>
double attraction_loss(const AffinityGraph& edges, const float* y, double inverse_dof, std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t p = edges.starts[i]; p < edges.starts[i + 1]; ++p) {
            const float* there = y + static_cast<std::int64_t>(edges.columns[p]) * D;
            double square = 0;
            for (int a = 0; a < D; ++a) {
                const double x = static_cast<double>(y[i * D + a]) - static_cast<double>(there[a]);
                square += x * x;
            }
            sum += static_cast<double>(edges.values[p]) * std::log1p(inverse_dof * square);
        }
    return sum;
}

// Σ_j K (y - y_j) and Σ_j (1 + d²/ν)^-(ν+1)/2 at one point, over n points whose coordinates are in `axes`, one axis `pitch`
// after another.
template <int D>
inline float repulsion_at(const float* point, const float* axes, std::int64_t pitch, std::int64_t n, float dof, float* force) {
    const float* c0 = axes;
    const float* c1 = D > 1 ? axes + pitch : axes;
    const float* c2 = D > 2 ? axes + 2 * pitch : axes;
    const float p0 = point[0], p1 = D > 1 ? point[D > 1 ? 1 : 0] : 0, p2 = D > 2 ? point[D > 2 ? 2 : 0] : 0;
    float f0 = 0, f1 = 0, f2 = 0, sum = 0;
    if (dof == 1.0f) {
#pragma omp simd reduction(+ : f0, f1, f2, sum)
        for (std::int64_t j = 0; j < n; ++j) {
            const float x0 = p0 - c0[j], x1 = D > 1 ? p1 - c1[j] : 0.0f, x2 = D > 2 ? p2 - c2[j] : 0.0f;
            const float w = 1.0f / (1.0f + (x0 * x0 + x1 * x1 + x2 * x2)), square = w * w;
            sum += w;
            f0 += square * x0;
            f1 += square * x1;
            f2 += square * x2;
        }
    } else {
        const float inverse = 1.0f / dof, power = -0.5f * (dof + 1.0f);
        for (std::int64_t j = 0; j < n; ++j) {
            const float x0 = p0 - c0[j], x1 = D > 1 ? p1 - c1[j] : 0.0f, x2 = D > 2 ? p2 - c2[j] : 0.0f;
            const float base = 1.0f + inverse * (x0 * x0 + x1 * x1 + x2 * x2), w = std::pow(base, power), factor = w / base;
            sum += w;
            f0 += factor * x0;
            f1 += factor * x1;
            f2 += factor * x2;
        }
    }
    force[0] = f0;
    if constexpr (D > 1) force[1] = f1;
    if constexpr (D > 2) force[2] = f2;
    return sum;
}

// The same for rows begin … end of the embedding itself, without the point itself; returns the sum of the kernel.
template <int D>
double repulsion_exact(const float* y, const float* axes, std::int64_t n, float dof, std::int64_t begin, std::int64_t end, float* forces) {
    double total = 0;
    for (std::int64_t i = begin; i < end; ++i)
        total += static_cast<double>(repulsion_at<D>(y + i * D, axes, n, n, dof, forces + i * D)) - 1.0;
    return total;
}
