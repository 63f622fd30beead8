#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/run.hpp"
#include "mds/distances.hpp"
#include "mds/out_of_sample.hpp"
#include "mds/passes.hpp"
#include "mds/ranking.hpp"
#include "mds/sgd.hpp"

namespace {

std::size_t pairs_of(std::size_t n) { return lowdim::pairs_of(static_cast<std::int64_t>(n)); }

void require_length(const lowdim::Ranking* ranking, std::size_t count) {
    require(ranking == nullptr || static_cast<std::size_t>(ranking->count()) == count, "the ranking must be of as many pairs");
}

template <class T>
lowdim::PairTable<T> table_of(const Dense<const T>& y, const T* targets, std::optional<Vector<const T>>& weights,
                              const lowdim::Ranking* ranking) {
    const std::size_t k = y.shape(0), n = y.shape(1);
    require(k >= 1 && n >= 1, "there must be points");
    const auto* weight_data = data_or_null(weights, pairs_of(n), "weights must have one entry a pair");
    require_length(ranking, pairs_of(n));
    const auto* slots = ranking == nullptr ? nullptr : ranking->slots();
    return {y.data(), targets, weight_data, slots, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
}

template <class T>
std::tuple<double, double, double> stress_pass(const Dense<const T>& y, const Vector<const T>& targets,
                                               std::optional<Vector<const T>> weights, const lowdim::Ranking* ranking, bool squared,
                                               const Dense<double>& out, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, ranking);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry a pair");
    require(out.shape(0) == y.shape(1) && out.shape(1) == y.shape(0), "out must have one row a point");
    lowdim::PairSums sums{};
    run(threads, [&](const lowdim::ThreadTeam& team) { sums = lowdim::stress_pass<T>(table, squared, out.data(), team); });
    return {sums.stress, sums.squares, sums.scale_slope};
}

template <class T>
void map_distances(const Dense<const T>& y, const lowdim::Ranking* ranking, const Vector<T>& out, int threads) {
    std::optional<Vector<const T>> unweighted;
    const auto table = table_of<T>(y, nullptr, unweighted, ranking);
    require(out.shape(0) == pairs_of(y.shape(1)), "out must have one entry a pair");
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::map_distances<T>(table, out.data(), team); });
}

template <class T>
std::vector<double> sstress_line(const Dense<const T>& y, const Dense<const T>& direction, const Vector<const T>& targets,
                                 std::optional<Vector<const T>> weights, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, nullptr);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry a pair");
    require(same_shape(direction, y), "the direction must have the map's shape");
    std::vector<double> out(5);
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::sstress_line<T>(table, direction.data(), out.data(), team); });
    return out;
}

template <class T>
void pairwise_distances(const Matrix<T>& x, int metric, bool root, double scale, const Vector<T>& out, int threads) {
    require(metric >= 0 && metric <= lowdim::metric_chebyshev, "there is no such metric");
    require(out.shape(0) == pairs_of(x.shape(0)), "out must have one entry a pair");
    const auto rows = rows_of(x);
    run(threads,
        [&](const lowdim::ThreadTeam& team) { lowdim::pairwise_distances<T>(rows, nullptr, {metric, root, scale}, out.data(), team); });
}

template <class T>
void cross_distances(const Matrix<T>& x, const Matrix<T>& others, int metric, bool root, double scale, const Dense<T>& out, int threads) {
    require(metric >= 0 && metric <= lowdim::metric_chebyshev, "there is no such metric");
    require(x.shape(1) == others.shape(1), "both must have the same columns");
    require(out.shape(0) == x.shape(0) && out.shape(1) == others.shape(0), "out must have a row for each of x");
    const auto rows = rows_of(x), base = rows_of(others);
    run(threads,
        [&](const lowdim::ThreadTeam& team) { lowdim::pairwise_distances<T>(rows, &base, {metric, root, scale}, out.data(), team); });
}

template <class T>
void mds_out_of_sample(const Dense<const T>& y, const Dense<const T>& targets, std::optional<Dense<const T>> weights, std::int64_t steps,
                       double tol, const Dense<double>& positions, const Vector<std::uint8_t>& converged, int threads) {
    const std::size_t k = y.shape(0), n = y.shape(1), m = targets.shape(0);
    require(targets.shape(1) == n && positions.shape(0) == m && positions.shape(1) == k && converged.shape(0) == m, "shapes must agree");
    require(!weights || same_shape(*weights, targets), "weights must have the shape of the targets");
    const lowdim::PairTable<T> table = {
        y.data(), targets.data(), weights ? weights->data() : nullptr, nullptr, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::mds_out_of_sample<T>(table, static_cast<std::int64_t>(m), steps, tol, positions.data(), converged.data(), team);
    });
}

template <class T>
double sgd_round(const Matrix<T>& x, int metric, bool root, double scale, const Ids& order, std::int64_t size, double step_size,
                 std::int64_t round, const Dense<T>& y, int threads) {
    const std::size_t n = x.shape(0);
    require(metric <= lowdim::metric_chebyshev, "there is no such metric");
    require(metric >= 0 || x.shape(1) == n, "a table of distances must be square");
    require(order.shape(0) == n && y.shape(0) == n, "order and map must have one entry a row");
    require(size >= 1 && size <= lowdim::sgd_block_size && round >= 0, "size must be from 1 to 64");
    require_below(order, n, threads);
    const lowdim::SgdRound<T> options = {
        rows_of(x), {metric, root, scale}, order.data(), size, static_cast<std::int64_t>(y.shape(1)), static_cast<T>(step_size)};
    double sum = 0;
    run(threads, [&](const lowdim::ThreadTeam& team) { sum = lowdim::sgd_round<T>(options, round, y.data(), team); });
    return sum;
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("pull_pairs", &stress_pass<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "ranking"_a.none(), "squared"_a,
          "out"_a.noconvert(), "threads"_a,
          "Σ_j factor (y_i - y_j) for every point of a map (k, n), and Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.");
    m.def("map_distances", &map_distances<T>, "y"_a.noconvert(), "ranking"_a.none(), "out"_a.noconvert(), "threads"_a,
          "Distances of all pairs of points of a map (k, n), packed, or each in its slot.");
    m.def("line_of_pairs", &sstress_line<T>, "y"_a.noconvert(), "direction"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(),
          "threads"_a, "The coefficients of the squared stress along a line, a polynomial of degree four.");
    m.def("measure_pairs", &pairwise_distances<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "out"_a.noconvert(), "threads"_a,
          "Distances of all pairs of rows, packed.");
    m.def("measure_rows", &cross_distances<T>, "x"_a.noconvert(), "others"_a.noconvert(), "metric"_a, "root"_a, "scale"_a,
          "out"_a.noconvert(), "threads"_a, "Distances of rows to other rows.");
    m.def("place_rows", &mds_out_of_sample<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "steps"_a, "tol"_a,
          "places"_a.noconvert(), "settled"_a.noconvert(), "threads"_a, "Places of new points among fixed ones, by majorisation.");
    m.def("meeting_round", &sgd_round<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "order"_a.noconvert(), "size"_a, "rate"_a,
          "round"_a, "y"_a.noconvert(), "threads"_a, "A round in which parties of points meet and go towards their distances.");
}

}  // namespace

void bind_mds(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}
