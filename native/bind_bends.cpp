#include <nanobind/stl/vector.h>

#include <algorithm>

#include "binding.hpp"
#include "pairs.hpp"

namespace {

constexpr std::int64_t bend_block = std::int64_t{1} << 15;  // pairs that one thread owns

lowdim::Bend bend_of(const Vector<const double>& breaks, double low, double width) {
    require(width > 0, "the width must be positive");
    return {breaks.data(), static_cast<std::int64_t>(breaks.shape(0)), low, 1 / width};
}

template <class T>
std::vector<double> bend_moments(const Dense<const T>& y, const Vector<const T>& given, std::optional<Vector<const T>> weights,
                                 const Vector<const double>& breaks, double low, double width, const Vector<T>& mapped, int threads) {
    const auto k = static_cast<std::int64_t>(y.shape(0)), n = static_cast<std::int64_t>(y.shape(1));
    require(k >= 1 && n >= 1, "there must be points");
    const auto pairs = static_cast<std::size_t>(n * (n - 1) / 2);
    require(given.shape(0) == pairs && mapped.shape(0) == pairs, "distances must have one entry a pair");
    const T* heavy = data_or_null(weights, pairs, "weights must have one entry a pair");
    const lowdim::PairTable<T> table = {y.data(), nullptr, nullptr, nullptr, n, k};
    const lowdim::Bend bend = bend_of(breaks, low, width);
    const std::int64_t blocks = lowdim::blocks_of(n, lowdim::triangle_rows), sums = 3 + bend.breaks;
    std::vector<double> parts(static_cast<std::size_t>(blocks * sums), 0.0), out(static_cast<std::size_t>(sums), 0.0);
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(n, lowdim::triangle_rows, crew, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t first = lowdim::pair_index(begin, begin + 1, n), last = lowdim::pair_index(end, end + 1, n);
            for (std::int64_t column = begin; column < n; column += lowdim::pair_block)
                lowdim::kernels().smacof.of<T>().map_distances(table, {begin, end, column, std::min(n, column + lowdim::pair_block), 0},
                                                               mapped.data());
            lowdim::kernels().bends.of<T>().moments(bend, given.data() + first, heavy == nullptr ? nullptr : heavy + first,
                                                    mapped.data() + first, last - first,
                                                    parts.data() + begin / lowdim::triangle_rows * sums);
        });
    });
    for (std::size_t i = 0; i < parts.size(); ++i) out[i % out.size()] += parts[i];
    return out;
}

template <class T>
void bend_curve(const Vector<const T>& given, const Vector<const double>& breaks, double low, double width,
                const Vector<const double>& coefficients, const Vector<T>& out, int threads) {
    const auto pairs = static_cast<std::int64_t>(given.shape(0));
    const lowdim::Bend bend = bend_of(breaks, low, width);
    require(out.shape(0) == given.shape(0), "out must have one entry a pair");
    require(coefficients.shape(0) == breaks.shape(0) + 3, "there must be three coefficients and one a break");
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(pairs, bend_block, crew, [&](std::int64_t first, std::int64_t last) {
            lowdim::kernels().bends.of<T>().curve(bend, given.data() + first, coefficients.data(), last - first, out.data() + first);
        });
    });
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("bend_moments", &bend_moments<T>, "y"_a.noconvert(), "given"_a.noconvert(), "weights"_a.none(), "breaks"_a.noconvert(), "low"_a,
          "width"_a, "mapped"_a.noconvert(), "threads"_a,
          "Distances of all pairs of points of a map (k, n), and Σ w d times 1, t, t² and (t - b)₊², t the given distance in 0 … 1.");
    m.def("bend_curve", &bend_curve<T>, "given"_a.noconvert(), "breaks"_a.noconvert(), "low"_a, "width"_a, "coefficients"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "The sum of 1, t, t² and (t - b)₊² with these coefficients, not below zero.");
}

}  // namespace

void bind_bends(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}
