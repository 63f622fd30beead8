// Contrast functions ρ of independent component analysis, with their slopes ψ = ρ' (the score) and ψ'.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

template <class T>
struct ContrastValues {
    Wide<T> score;  // ψ(y)
    Wide<T> slope;  // ψ'(y)
    Wide<T> value;  // ρ(y)
};

// ρ = log cosh y, ψ = tanh y, all from e = exp(-2 |y|), which neither overflows nor cancels.
struct ContrastLogcosh {
    template <class T>
    static LOWDIM_INLINE ContrastValues<T> at(Wide<T> y) {
        const Wide<T> size = y < T(0) ? -y : y;
        const Wide<T> e = exp_nonpositive<T>(T(-2) * size);
        const Wide<T> inverse = T(1) / (T(1) + e);
        const Wide<T> tanh = (T(1) - e) * inverse;
        return {y < T(0) ? -tanh : tanh, T(4) * e * inverse * inverse, size + (log_one_plus<T>(e) - T(0.69314718055994531))};
    }
};

// ρ = -exp(-y² / 2), ψ = y exp(-y² / 2).
struct ContrastExp {
    template <class T>
    static LOWDIM_INLINE ContrastValues<T> at(Wide<T> y) {
        const Wide<T> square = y * y;
        const Wide<T> e = exp_nonpositive<T>(T(-0.5) * square);
        return {y * e, (T(1) - square) * e, -e};
    }
};

// ρ = y⁴ / 4, ψ = y³: kurtosis.
struct ContrastCube {
    template <class T>
    static LOWDIM_INLINE ContrastValues<T> at(Wide<T> y) {
        const Wide<T> square = y * y;
        return {y * square, T(3) * square, T(0.25) * square * square};
    }
};

// ψ, ψ' and ρ of `count` values into three arrays, exposed for the tests.
template <class T, class Contrast>
void contrast_values(const T* y, std::int64_t count, T* score, T* slope, T* value) {
    constexpr int W = wide_lanes<T>;
    for (std::int64_t i = 0; i < count; i += W) {
        T part[W] = {};
        const std::int64_t here = std::min<std::int64_t>(W, count - i);
        std::copy(y + i, y + i + here, part);
        const ContrastValues<T> at = Contrast::template at<T>(wide_load(part));
        const std::pair<Wide<T>, T*> results[] = {{at.score, score}, {at.slope, slope}, {at.value, value}};
        for (const auto& [values, out] : results) {
            wide_store<T>(part, values);
            std::copy(part, part + here, out + i);
        }
    }
}
