#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/mds_arrays.hpp"
#include "mds/isotonic.hpp"
#include "mds/passes.hpp"

namespace {

template <class T>
double isotonic_regression(const Vector<const T>& values, std::optional<Vector<const T>> weights, const lowdim::Ranking* ranking,
                           double total, const Vector<T>& out, int threads) {
    const auto* weight_data = data_or_null(weights, values.shape(0), "weights must have one entry per value");
    require_length(ranking, values.shape(0));
    require(out.shape(0) == values.shape(0), "out must have one entry per value");
    const lowdim::OrderedValues<T> sequence = {values.data(), weight_data, ranking == nullptr ? nullptr : ranking->positions(),
                                               static_cast<std::int64_t>(values.shape(0))};
    double squares = 0;
    run(threads, [&](const lowdim::ThreadTeam& team) { squares = lowdim::isotonic_regression<T>(sequence, total, out.data(), team); });
    return squares;
}

template <class T>
void sort_ties(const Starts& starts, const Starts& ends, const Vector<const T>& values, lowdim::Ranking& ranking, int threads) {
    require(starts.shape(0) == ends.shape(0), "groups must have a start and an end");
    require_length(&ranking, values.shape(0));
    for (std::size_t g = 0; g < starts.shape(0); ++g)
        require(starts(g) >= 0 && starts(g) <= ends(g) && ends(g) <= ranking.count() && (g == 0 || ends(g - 1) <= starts(g)),
                "groups must ascend");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::sort_ties<T>(starts.data(), ends.data(), static_cast<std::int64_t>(starts.shape(0)), values.data(), ranking.positions(),
                             team);
    });
}

constexpr std::int64_t spline_block = std::int64_t{1} << 15;  // pairs owned by one thread

lowdim::MonotoneSpline spline_of(const Vector<const double>& knots, double low, double width) {
    require(width > 0, "the width must be positive");
    return {knots.data(), static_cast<std::int64_t>(knots.shape(0)), low, 1 / width};
}

template <class T>
std::vector<double> spline_moments(const Dense<const T>& y, const Vector<const T>& given, std::optional<Vector<const T>> weights,
                                   const Vector<const double>& knots, double low, double width, const Vector<T>& mapped, int threads) {
    const auto k = static_cast<std::int64_t>(y.shape(0)), n = static_cast<std::int64_t>(y.shape(1));
    require(k >= 1 && n >= 1, "there must be points");
    const auto pairs = static_cast<std::size_t>(n * (n - 1) / 2);
    require(given.shape(0) == pairs && mapped.shape(0) == pairs, "distances must have one entry per pair");
    const T* weight_data = data_or_null(weights, pairs, "weights must have one entry per pair");
    const lowdim::PairTable<T> table = {y.data(), nullptr, nullptr, nullptr, n, k};
    const lowdim::MonotoneSpline spline = spline_of(knots, low, width);
    const std::int64_t blocks = lowdim::block_count(n, lowdim::triangle_rows), sums = 3 + spline.knot_count;
    std::vector<double> parts(static_cast<std::size_t>(blocks * sums), 0.0), out(static_cast<std::size_t>(sums), 0.0);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(n, lowdim::triangle_rows, team, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t first = lowdim::pair_index(begin, begin + 1, n), last = lowdim::pair_index(end, end + 1, n);
            for (std::int64_t column = begin; column < n; column += lowdim::pair_block)
                lowdim::kernels().mds.of<T>().map_distances(table, {begin, end, column, std::min(n, column + lowdim::pair_block), 0},
                                                            mapped.data());
            lowdim::kernels().splines.of<T>().moments(spline, given.data() + first, weight_data == nullptr ? nullptr : weight_data + first,
                                                      mapped.data() + first, last - first,
                                                      parts.data() + begin / lowdim::triangle_rows * sums);
        });
    });
    for (std::size_t i = 0; i < parts.size(); ++i) out[i % out.size()] += parts[i];
    return out;
}

template <class T>
void evaluate_spline(const Vector<const T>& given, const Vector<const double>& knots, double low, double width,
                     const Vector<const double>& coefficients, const Vector<T>& out, int threads) {
    const auto pairs = static_cast<std::int64_t>(given.shape(0));
    const lowdim::MonotoneSpline spline = spline_of(knots, low, width);
    require(out.shape(0) == given.shape(0), "out must have one entry per pair");
    require(coefficients.shape(0) == knots.shape(0) + 3, "there must be three coefficients and one per knot");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(pairs, spline_block, team, [&](std::int64_t first, std::int64_t last) {
            lowdim::kernels().splines.of<T>().evaluate(spline, given.data() + first, coefficients.data(), last - first, out.data() + first);
        });
    });
}

// A view of numbers that belong to a ranking, which it keeps alive.
nb::object view_of(nb::handle owner, const std::int32_t* numbers, std::int64_t count) {
    return nb::cast(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(numbers, {static_cast<std::size_t>(count)}, owner));
}

void bind_ranking(nb::module_& m) {
    using lowdim::Ranking;
    nb::class_<Ranking>(m, "Ranking", "Pairs of n points by the rank of their dissimilarities, in buckets; order[r] is the pair of rank r.")
        .def(
            "__init__",
            [](Ranking* self, const Ids& order, std::int64_t n) {
                require(n >= 0 && n <= std::int64_t{1} << 16 && order.shape(0) == lowdim::pairs_of(n),
                        "order must have one entry per pair of n points");
                new (self) Ranking(order.data(), n);
            },
            "order"_a.noconvert(), "n"_a)
        .def(
            "copy", [](const Ranking& self) { return Ranking(self); }, "An independent copy, whose ties can be sorted separately.")
        .def(
            "slots", [](const Ranking& self) { return array_of(self.slots_by_pair()); }, nb::sig("def slots(self) -> NDArray[numpy.int32]"),
            "The storage position of each pair.")
        .def_prop_ro(
            "positions",
            [](nb::handle self) {
                const auto& ranking = nb::cast<const Ranking&>(self);
                return view_of(self, ranking.positions(), ranking.count());
            },
            nb::sig("def positions(self) -> NDArray[numpy.int32]"), "The storage position of each rank.");
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("isotonic_regression", &isotonic_regression<T>, "values"_a.noconvert(), "weights"_a.none(), "ranking"_a.none(), "total"_a,
          "out"_a.noconvert(), "threads"_a,
          "Isotonic regression, scaled so that its weighted sum of squares is `total` (0: unscaled); returns the sum before scaling.");
    m.def("sort_ties", &sort_ties<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "values"_a.noconvert(), "ranking"_a, "threads"_a,
          "Sort the positions of tied pairs by their values.");
    m.def(
        "spline_moments", &spline_moments<T>, "y"_a.noconvert(), "given"_a.noconvert(), "weights"_a.none(), "knots"_a.noconvert(), "low"_a,
        "width"_a, "mapped"_a.noconvert(), "threads"_a,
        "Distances of all pairs of points of an embedding (k, n), and Σ w d times 1, t, t² and (t - b)₊², t the given distance in 0 … 1.");
    m.def("evaluate_spline", &evaluate_spline<T>, "given"_a.noconvert(), "knots"_a.noconvert(), "low"_a, "width"_a,
          "coefficients"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "The monotone spline: the sum of 1, t, t² and (t - b)₊² with these coefficients, clipped at zero.");
}

}  // namespace

void bind_mds_disparities(nb::module_& m) {
    bind_ranking(m);
    bind_for<float>(m);
    bind_for<double>(m);
}
