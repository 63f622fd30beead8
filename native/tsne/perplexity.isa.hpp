// Conditional affinities of a row: Gaussian weights with a given perplexity.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// exp(x) for x in [-700, 0] to 1e-14, written out so that loops over it vectorize.
inline double exp_negative(double x) {
    constexpr double magic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
    const double shifted = x * 1.4426950408889634 + magic;
    const double whole = shifted - magic;
    const double r = (x - whole * 0x1.62e42fefa3800p-1) - whole * 0x1.ef35793c76730p-45;
    double sum = 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return sum * power;
}

// weights_j ∝ exp(-β d_j²) with entropy `target` (the logarithm of the perplexity), summing to one.
// Safeguarded Newton iteration on log β. An entropy that no β reaches ends at the nearest one.
inline void calibrate_row(const float* distances, std::int64_t k, double target, double* squares, double* weights) {
    double least = HUGE_VAL, sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
        squares[j] = static_cast<double>(distances[j]) * static_cast<double>(distances[j]);
        least = std::min(least, squares[j]);
    }
    for (std::int64_t j = 0; j < k; ++j) {
        squares[j] -= least;  // changes no weight, and makes the largest one
        sum += squares[j];
    }
    double beta = sum > 0 ? static_cast<double>(k) / sum : 1.0, low = 0, high = HUGE_VAL, total = 1;
    for (int round = 0; round < 200; ++round) {
        double first = 0, second = 0;
        total = 0;
#pragma omp simd reduction(+ : total, first, second)
        for (std::int64_t j = 0; j < k; ++j) {
            const double x = beta * squares[j];
            const double w = x < 700 ? exp_negative(-(x < 700 ? x : 700.0)) : 0.0;
            weights[j] = w;
            total += w;
            first += w * x;
            second += x < 700 ? w * x * x : 0.0;
        }
        first /= total;
        const double excess = std::log(total) + first - target, slope = second / total - first * first;
        if (std::abs(excess) < 1e-9) break;
        (excess > 0 ? low : high) = beta;
        double next = beta * std::exp(std::min(std::max(excess / std::max(slope, 1e-300), -2.0), 2.0));
        if (!(next > low && next < high)) next = high == HUGE_VAL ? beta * 8 : low == 0 ? beta / 8 : std::sqrt(low) * std::sqrt(high);
        if (!(next > 1e-290 && next < 1e290) || next == beta) break;
        beta = next;
    }
    for (std::int64_t j = 0; j < k; ++j) weights[j] /= total;
}
