// t-SNE: attraction along the edges, repulsion by the direct sum, and one step of descent.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

// Σ_j w_ij (y_i - y_j) (1 + d²/ν)^-1 over the entries of row i.
template <int D>
inline void attraction(const MapEdges& edges, const float* y, std::int64_t i, float inverse_dof, float* force) {
    const float* here = y + i * D;
    float f0 = 0, f1 = 0, f2 = 0;
    const std::int64_t end = edges.starts[i + 1];
#pragma omp simd reduction(+ : f0, f1, f2)
    for (std::int64_t p = edges.starts[i]; p < end; ++p) {
        const float* there = y + static_cast<std::int64_t>(edges.columns[p]) * D;
        const float x0 = here[0] - there[0];
        const float x1 = D > 1 ? here[D > 1 ? 1 : 0] - there[D > 1 ? 1 : 0] : 0.0f;
        const float x2 = D > 2 ? here[D > 2 ? 2 : 0] - there[D > 2 ? 2 : 0] : 0.0f;
        const float w = edges.values[p] / (1.0f + inverse_dof * (x0 * x0 + x1 * x1 + x2 * x2));
        f0 += w * x0;
        f1 += w * x1;
        f2 += w * x2;
    }
    force[0] = f0;
    if constexpr (D > 1) force[1] = f1;
    if constexpr (D > 2) force[2] = f2;
}

// One step of rows begin … end: momentum, a gain a coordinate, steps no longer than `longest`.
template <int D>
void descend(const MapEdges& edges, const Descent& rule, const float* y, const float* repulsion, float* velocity, float* gains,
             float* out, std::int64_t begin, std::int64_t end, double* sums) {
    for (std::int64_t i = begin; i < end; ++i) {
        float pull[D], square = 0;
        attraction<D>(edges, y, i, rule.inverse_dof, pull);
        for (int a = 0; a < D; ++a) {
            const std::int64_t at = i * D + a;
            const float slope = rule.factor * (rule.exaggeration * pull[a] - rule.inverse_sum * repulsion[at]);
            const int way = (slope > 0) - (slope < 0), going = (velocity[at] > 0) - (velocity[at] < 0);
            gains[at] = way != going ? gains[at] + 0.2f : gains[at] * 0.8f + 0.01f;
            velocity[at] = rule.momentum * velocity[at] - rule.rate * gains[at] * slope;
            square += velocity[at] * velocity[at];
        }
        const float length = std::sqrt(square), brake = length > rule.longest ? rule.longest / length : 1.0f;
        for (int a = 0; a < D; ++a) {
            const std::int64_t at = i * D + a;
            velocity[at] *= brake;
            out[at] = y[at] + velocity[at];
            sums[a] += static_cast<double>(out[at]);
        }
    }
}

// Σ p log(1 + d²/ν) over rows begin … end.
template <int D>
double log_lengths(const MapEdges& edges, const float* y, double inverse_dof, std::int64_t begin, std::int64_t end) {
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

// Σ_j K (y - y_j) and Σ_j (1 + d²/ν)^-(ν+1)/2 for one place; `axes` are the coordinates of the map, one axis after another.
template <int D>
inline float repulsion_at(const float* place, const float* axes, std::int64_t n, float dof, float* force) {
    const float* c0 = axes;
    const float* c1 = D > 1 ? axes + n : axes;
    const float* c2 = D > 2 ? axes + 2 * n : axes;
    const float p0 = place[0], p1 = D > 1 ? place[D > 1 ? 1 : 0] : 0, p2 = D > 2 ? place[D > 2 ? 2 : 0] : 0;
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
            const float base = 1.0f + inverse * (x0 * x0 + x1 * x1 + x2 * x2), w = std::pow(base, power), pull = w / base;
            sum += w;
            f0 += pull * x0;
            f1 += pull * x1;
            f2 += pull * x2;
        }
    }
    force[0] = f0;
    if constexpr (D > 1) force[1] = f1;
    if constexpr (D > 2) force[2] = f2;
    return sum;
}

// The same for rows begin … end of the map itself, without the point's own share; returns the sum of the sums.
template <int D>
double repel_directly(const float* y, const float* axes, std::int64_t n, float dof, std::int64_t begin, std::int64_t end,
                      float* forces) {
    double total = 0;
    for (std::int64_t i = begin; i < end; ++i)
        total += static_cast<double>(repulsion_at<D>(y + i * D, axes, n, dof, forces + i * D)) - 1.0;
    return total;
}
