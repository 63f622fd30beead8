// Monotone splines of a distance: sums of 1, t, t² and (t - b)₊² for every knot b, with the distance t mapped to 0 … 1.

constexpr std::int64_t spline_run = 256;  // pairs whose arguments stay in the L1 cache

template <class T>
inline void spline_arguments(const MonotoneSpline& spline, const T* given, std::int64_t count, double* t) {
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j)
        t[j] = std::min(std::max((static_cast<double>(given[j]) - spline.low) * spline.inverse_width, 0.0), 1.0);
}

// Σ w value times each basis function, added to `out`.
template <class T>
void spline_moments(const MonotoneSpline& spline, const T* given, const T* weights, const T* values, std::int64_t pairs, double* out) {
    double t[spline_run], mass[spline_run];
    for (std::int64_t first = 0; first < pairs; first += spline_run) {
        const std::int64_t count = std::min(spline_run, pairs - first);
        spline_arguments(spline, given + first, count, t);
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) mass[j] = static_cast<double>(values[first + j]);
        if (weights != nullptr) {
#pragma omp simd
            for (std::int64_t j = 0; j < count; ++j) mass[j] *= static_cast<double>(weights[first + j]);
        }
        double zeroth = 0, linear = 0, square = 0;
#pragma omp simd reduction(+ : zeroth, linear, square)
        for (std::int64_t j = 0; j < count; ++j) {
            const double moment = mass[j] * t[j];
            zeroth += mass[j];
            linear += moment;
            square += moment * t[j];
        }
        out[0] += zeroth;
        out[1] += linear;
        out[2] += square;
        for (std::int64_t b = 0; b < spline.knot_count; ++b) {
            const double knots = spline.knots[b];
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::int64_t j = 0; j < count; ++j) {
                const double excess = std::max(t[j] - knots, 0.0);
                sum += mass[j] * excess * excess;
            }
            out[3 + b] += sum;
        }
    }
}

// The spline itself, clipped at zero.
template <class T>
void evaluate_spline(const MonotoneSpline& spline, const T* given, const double* coefficients, std::int64_t pairs, T* out) {
    double t[spline_run], value[spline_run];
    for (std::int64_t first = 0; first < pairs; first += spline_run) {
        const std::int64_t count = std::min(spline_run, pairs - first);
        spline_arguments(spline, given + first, count, t);
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) value[j] = coefficients[0] + t[j] * (coefficients[1] + t[j] * coefficients[2]);
        for (std::int64_t b = 0; b < spline.knot_count; ++b) {
            const double knots = spline.knots[b], factor = coefficients[3 + b];
#pragma omp simd
            for (std::int64_t j = 0; j < count; ++j) {
                const double excess = std::max(t[j] - knots, 0.0);
                value[j] += factor * excess * excess;
            }
        }
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) out[first + j] = static_cast<T>(std::max(value[j], 0.0));
    }
}
