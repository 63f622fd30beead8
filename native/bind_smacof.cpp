#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "binding.hpp"
#include "isotonic.hpp"
#include "pairs.hpp"
#include "ranks.hpp"

namespace {

std::size_t pairs_of(std::size_t n) { return lowdim::pairs_of(static_cast<std::int64_t>(n)); }

void require_length(const lowdim::Ranking* ranking, std::size_t count) {
    require(ranking == nullptr || static_cast<std::size_t>(ranking->count()) == count, "the ranking must be of as many pairs");
}

// Runs a pass with the GIL released, and raises what Ctrl-C left behind.
template <class Pass>
void run_pass(int threads, const Pass& pass) {
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        pass(lowdim::PairOptions{std::max(threads, 1), &stop});
    }
    rethrow_if_stopped(stop);
}

template <class T>
lowdim::PairTable<T> table_of(const Dense<const T>& y, const T* targets, std::optional<Vector<const T>>& weights,
                              const lowdim::Ranking* ranking) {
    const std::size_t k = y.shape(0), n = y.shape(1);
    require(k >= 1 && n >= 1, "there must be points");
    const auto* heavy = data_or_null(weights, pairs_of(n), "weights must have one entry a pair");
    require_length(ranking, pairs_of(n));
    const auto* slots = ranking == nullptr ? nullptr : ranking->slots();
    return {y.data(), targets, heavy, slots, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
}

template <class T>
std::tuple<double, double, double> pull_pairs(const Dense<const T>& y, const Vector<const T>& targets,
                                              std::optional<Vector<const T>> weights, const lowdim::Ranking* ranking, bool squared,
                                              const Dense<double>& out, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, ranking);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry a pair");
    require(out.shape(0) == y.shape(1) && out.shape(1) == y.shape(0), "out must have one row a point");
    lowdim::PairSums sums{};
    run_pass(threads, [&](const auto& options) { sums = lowdim::pull_pairs<T>(table, squared, out.data(), options); });
    return {sums.stress, sums.squares, sums.drift};
}

template <class T>
void map_distances(const Dense<const T>& y, const lowdim::Ranking* ranking, const Vector<T>& out, int threads) {
    std::optional<Vector<const T>> unweighted;
    const auto table = table_of<T>(y, nullptr, unweighted, ranking);
    require(out.shape(0) == pairs_of(y.shape(1)), "out must have one entry a pair");
    run_pass(threads, [&](const auto& options) { lowdim::map_distances<T>(table, out.data(), options); });
}

template <class T>
std::vector<double> line_of_pairs(const Dense<const T>& y, const Dense<const T>& direction, const Vector<const T>& targets,
                                  std::optional<Vector<const T>> weights, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, nullptr);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry a pair");
    require(direction.shape(0) == y.shape(0) && direction.shape(1) == y.shape(1), "the direction must have the map's shape");
    std::vector<double> out(5);
    run_pass(threads, [&](const auto& options) { lowdim::line_of_pairs<T>(table, direction.data(), out.data(), options); });
    return out;
}

template <class T>
void measure_pairs(const Matrix<T>& x, int metric, bool root, double scale, const Vector<T>& out, int threads) {
    require(metric >= 0 && metric <= lowdim::metric_largest, "there is no such metric");
    require(out.shape(0) == pairs_of(x.shape(0)), "out must have one entry a pair");
    const auto rows = rows_of(x);
    run_pass(threads, [&](const auto& options) { lowdim::measure_pairs<T>(rows, nullptr, {metric, root, scale}, out.data(), options); });
}

template <class T>
void measure_rows(const Matrix<T>& x, const Matrix<T>& others, int metric, bool root, double scale, const Dense<T>& out, int threads) {
    require(metric >= 0 && metric <= lowdim::metric_largest, "there is no such metric");
    require(x.shape(1) == others.shape(1), "both must have the same columns");
    require(out.shape(0) == x.shape(0) && out.shape(1) == others.shape(0), "out must have a row for each of x");
    const auto rows = rows_of(x), base = rows_of(others);
    run_pass(threads, [&](const auto& options) { lowdim::measure_pairs<T>(rows, &base, {metric, root, scale}, out.data(), options); });
}

template <class T>
void place_rows(const Dense<const T>& y, const Dense<const T>& targets, std::optional<Dense<const T>> weights, std::int64_t steps,
                double tol, const Dense<double>& places, const Vector<std::uint8_t>& settled, int threads) {
    const std::size_t k = y.shape(0), n = y.shape(1), m = targets.shape(0);
    require(targets.shape(1) == n && places.shape(0) == m && places.shape(1) == k && settled.shape(0) == m, "shapes must agree");
    require(!weights || (weights->shape(0) == m && weights->shape(1) == n), "weights must have the shape of the targets");
    const lowdim::PairTable<T> table = {y.data(), targets.data(), weights ? weights->data() : nullptr, nullptr,
                                        static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
    run_pass(threads, [&](const auto& options) {
        lowdim::place_rows<T>(table, static_cast<std::int64_t>(m), steps, tol, places.data(), settled.data(), options);
    });
}

template <class T>
double meeting_round(const Matrix<T>& x, int metric, bool root, double scale, const Vector<const std::int32_t>& order, std::int64_t size,
                     double rate, std::int64_t round, const Dense<T>& y, int threads) {
    const std::size_t n = x.shape(0);
    require(metric <= lowdim::metric_largest, "there is no such metric");
    require(metric >= 0 || x.shape(1) == n, "a table of distances must be square");
    require(order.shape(0) == n && y.shape(0) == n, "order and map must have one entry a row");
    require(size >= 1 && size <= lowdim::party_size && round >= 0, "size must be from 1 to 64");
    for (std::size_t i = 0; i < n; ++i) require(order(i) >= 0 && static_cast<std::size_t>(order(i)) < n, "an index is out of range");
    const lowdim::Meeting<T> meeting = {rows_of(x), {metric, root, scale}, order.data(), size, static_cast<std::int64_t>(y.shape(1)),
                                        static_cast<T>(rate)};
    double sum = 0;
    run_pass(threads, [&](const auto& options) { sum = lowdim::meeting_round<T>(meeting, round, y.data(), options); });
    return sum;
}

template <class T>
double isotonic(const Vector<const T>& values, std::optional<Vector<const T>> weights, const lowdim::Ranking* ranking, double total,
                const Vector<T>& out, int threads) {
    const auto* heavy = data_or_null(weights, values.shape(0), "weights must have one entry a value");
    require_length(ranking, values.shape(0));
    require(out.shape(0) == values.shape(0), "out must have one entry a value");
    const lowdim::Sequence<T> sequence = {values.data(), heavy, ranking == nullptr ? nullptr : ranking->places(),
                                          static_cast<std::int64_t>(values.shape(0))};
    double squares = 0;
    run_pass(threads, [&](const auto& options) { squares = lowdim::isotonic<T>(sequence, total, out.data(), options); });
    return squares;
}

template <class T>
void sort_ties(const Vector<const std::int64_t>& starts, const Vector<const std::int64_t>& ends, const Vector<const T>& values,
               lowdim::Ranking& ranking, int threads) {
    require(starts.shape(0) == ends.shape(0), "groups must have a start and an end");
    require_length(&ranking, values.shape(0));
    for (std::size_t g = 0; g < starts.shape(0); ++g)
        require(starts(g) >= 0 && starts(g) <= ends(g) && ends(g) <= ranking.count() && (g == 0 || ends(g - 1) <= starts(g)),
                "groups must ascend");
    run_pass(threads, [&](const auto& options) {
        lowdim::sort_ties<T>(starts.data(), ends.data(), static_cast<std::int64_t>(starts.shape(0)), values.data(), ranking.places(), options);
    });
}

// A view of numbers that belong to a ranking, which it keeps alive.
nb::object view_of(nb::handle owner, const std::int32_t* numbers, std::int64_t count) {
    return nb::cast(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(numbers, {static_cast<std::size_t>(count)}, owner));
}

void bind_ranking(nb::module_& m) {
    using lowdim::Ranking;
    nb::class_<Ranking>(m, "Ranking", "Pairs of n points held by the rank of their distances, in buckets; order[r] is the pair of rank r.")
        .def("__init__", [](Ranking* self, const Vector<const std::int32_t>& order, std::int64_t n) {
            require(n >= 0 && n <= std::int64_t{1} << 16 && order.shape(0) == lowdim::pairs_of(n), "order must have one entry a pair of n points");
            new (self) Ranking(order.data(), n);
        }, "order"_a.noconvert(), "n"_a)
        .def("copy", [](const Ranking& self) { return Ranking(self); }, "The same, for ties of its own.")
        .def("slots", [](const Ranking& self) { return array_of(self.slots_by_pair()); },
             nb::sig("def slots(self) -> NDArray[numpy.int32]"), "Where each pair stands.")
        .def_prop_ro("places", [](nb::handle self) {
            const auto& ranking = nb::cast<const Ranking&>(self);
            return view_of(self, ranking.places(), ranking.count());
        }, nb::sig("def places(self) -> NDArray[numpy.int32]"), "Where each rank stands.");
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("pull_pairs", &pull_pairs<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "ranking"_a.none(), "squared"_a,
          "out"_a.noconvert(), "threads"_a,
          "Σ_j factor (y_i - y_j) for every point of a map (k, n), and Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.");
    m.def("map_distances", &map_distances<T>, "y"_a.noconvert(), "ranking"_a.none(), "out"_a.noconvert(), "threads"_a,
          "Distances of all pairs of points of a map (k, n), packed, or each in its slot.");
    m.def("line_of_pairs", &line_of_pairs<T>, "y"_a.noconvert(), "direction"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(),
          "threads"_a, "The coefficients of the squared stress along a line, a polynomial of degree four.");
    m.def("measure_pairs", &measure_pairs<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "out"_a.noconvert(), "threads"_a,
          "Distances of all pairs of rows, packed.");
    m.def("measure_rows", &measure_rows<T>, "x"_a.noconvert(), "others"_a.noconvert(), "metric"_a, "root"_a, "scale"_a,
          "out"_a.noconvert(), "threads"_a, "Distances of rows to other rows.");
    m.def("place_rows", &place_rows<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "steps"_a, "tol"_a,
          "places"_a.noconvert(), "settled"_a.noconvert(), "threads"_a, "Places of new points among fixed ones, by majorisation.");
    m.def("meeting_round", &meeting_round<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "order"_a.noconvert(), "size"_a, "rate"_a,
          "round"_a, "y"_a.noconvert(), "threads"_a, "A round in which parties of points meet and go towards their distances.");
    m.def("isotonic", &isotonic<T>, "values"_a.noconvert(), "weights"_a.none(), "ranking"_a.none(), "total"_a, "out"_a.noconvert(),
          "threads"_a, "The nearest rising sequence, made so large that its weighted sum of squares is `total` (0: as it is); returns what it was.");
    m.def("sort_ties", &sort_ties<T>, "starts"_a.noconvert(), "ends"_a.noconvert(), "values"_a.noconvert(), "ranking"_a, "threads"_a,
          "Put the places of tied pairs in the order of their values.");
}

}  // namespace

void bind_smacof(nb::module_& m) {
    bind_ranking(m);
    bind_for<float>(m);
    bind_for<double>(m);
}
