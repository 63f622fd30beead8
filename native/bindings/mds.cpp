#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/mds_arrays.hpp"
#include "mds/distances.hpp"
#include "mds/out_of_sample.hpp"
#include "mds/passes.hpp"
#include "mds/sgd.hpp"

namespace {

template <class T>
lowdim::PairTable<T> table_of(const Dense<const T>& y, const T* targets, std::optional<Vector<const T>>& weights,
                              const lowdim::Ranking* ranking) {
    const std::size_t k = y.shape(0), n = y.shape(1);
    require(k >= 1 && n >= 1, "there must be points");
    const auto* weight_data = data_or_null(weights, pairs_of(n), "weights must have one entry per pair");
    require_length(ranking, pairs_of(n));
    const auto* slots = ranking == nullptr ? nullptr : ranking->slots();
    return {y.data(), targets, weight_data, slots, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
}

template <class T>
std::tuple<double, double, double> stress_pass(const Dense<const T>& y, const Vector<const T>& targets,
                                               std::optional<Vector<const T>> weights, const lowdim::Ranking* ranking, bool squared,
                                               const Dense<double>& out, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, ranking);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry per pair");
    require(out.shape(0) == y.shape(1) && out.shape(1) == y.shape(0), "out must have one row per point");
    lowdim::PairSums sums{};
    run(threads, [&](const lowdim::ThreadTeam& team) { sums = lowdim::stress_pass<T>(table, squared, out.data(), team); });
    return {sums.stress, sums.squares, sums.scale_slope};
}

template <class T>
void map_distances(const Dense<const T>& y, const lowdim::Ranking* ranking, const Vector<T>& out, int threads) {
    std::optional<Vector<const T>> unweighted;
    const auto table = table_of<T>(y, nullptr, unweighted, ranking);
    require(out.shape(0) == pairs_of(y.shape(1)), "out must have one entry per pair");
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::map_distances<T>(table, out.data(), team); });
}

template <class T>
std::vector<double> sstress_line(const Dense<const T>& y, const Dense<const T>& direction, const Vector<const T>& targets,
                                 std::optional<Vector<const T>> weights, int threads) {
    const auto table = table_of<T>(y, targets.data(), weights, nullptr);
    require(targets.shape(0) == pairs_of(y.shape(1)), "targets must have one entry per pair");
    require(same_shape(direction, y), "the direction must have the shape of the embedding");
    std::vector<double> out(5);
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::sstress_line<T>(table, direction.data(), out.data(), team); });
    return out;
}

template <class T>
void pairwise_distances(const Matrix<T>& x, int metric, int root, double scale, const Vector<T>& out, int threads,
                        std::optional<Vector<const T>> params) {
    require(metric >= 0 && metric < lowdim::metric_count, "there is no such metric");
    require(out.shape(0) == pairs_of(x.shape(0)), "out must have one entry per pair");
    const auto rows = rows_of(x);
    const lowdim::MetricForm<T> form = {metric, root, scale, metric_params(params, metric, x.shape(1))};
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::pairwise_distances<T>(rows, nullptr, form, out.data(), team); });
}

template <class T>
void cross_distances(const Matrix<T>& x, const Matrix<T>& others, int metric, int root, double scale, const Dense<T>& out, int threads,
                     std::optional<Vector<const T>> params) {
    require(metric >= 0 && metric < lowdim::metric_count, "there is no such metric");
    require(x.shape(1) == others.shape(1), "x and others must have the same columns");
    require(out.shape(0) == x.shape(0) && out.shape(1) == others.shape(0),
            "out must have one row per row of x and one column per row of others");
    const auto rows = rows_of(x), base = rows_of(others);
    const lowdim::MetricForm<T> form = {metric, root, scale, metric_params(params, metric, x.shape(1))};
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::pairwise_distances<T>(rows, &base, form, out.data(), team); });
}

template <class T>
void mds_out_of_sample(const Dense<const T>& y, const Dense<const T>& targets, std::optional<Dense<const T>> weights, std::int64_t steps,
                       double tol, const Dense<double>& positions, const Vector<std::uint8_t>& converged, int threads) {
    const std::size_t k = y.shape(0), n = y.shape(1), m = targets.shape(0);
    require(targets.shape(1) == n && positions.shape(0) == m && positions.shape(1) == k && converged.shape(0) == m,
            "the shapes must agree");
    require(!weights || same_shape(*weights, targets), "weights must have the shape of the targets");
    const lowdim::PairTable<T> table = {
        y.data(), targets.data(), weights ? weights->data() : nullptr, nullptr, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::mds_out_of_sample<T>(table, static_cast<std::int64_t>(m), steps, tol, positions.data(), converged.data(), team);
    });
}

template <class T>
double mds_sgd_round(const Matrix<T>& x, int metric, int root, double scale, const Ids& order, std::int64_t size, double step_size,
                     std::int64_t round, const Dense<T>& y, int threads, std::optional<Vector<const T>> params) {
    const std::size_t n = x.shape(0);
    require(metric < lowdim::metric_count, "there is no such metric");
    require(metric >= 0 || x.shape(1) == n, "a distance matrix must be square");
    require(order.shape(0) == n && y.shape(0) == n, "order and y must have one entry per row");
    require(size >= 1 && size <= lowdim::sgd_block_size && round >= 0, "size must be from 1 to 64");
    require_below(order, n, threads);
    const lowdim::MetricForm<T> form = {metric, root, scale, metric_params(params, metric, x.shape(1))};
    const auto k = static_cast<std::int64_t>(y.shape(1));
    const lowdim::SgdRound<T> options = {rows_of(x), form, order.data(), size, k, static_cast<T>(step_size)};
    double sum = 0;
    run(threads, [&](const lowdim::ThreadTeam& team) { sum = lowdim::mds_sgd_round<T>(options, round, y.data(), team); });
    return sum;
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("stress_pass", &stress_pass<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "ranking"_a.none(), "squared"_a,
          "out"_a.noconvert(), "threads"_a,
          "The Guttman transform of stress (or the gradient of squared stress), Σ_j factor (y_i - y_j) for every point of an\n"
          "embedding (k, n); returns Σ w (δ - d)², Σ w d², Σ w d (d - δ) over the pairs.");
    m.def("map_distances", &map_distances<T>, "y"_a.noconvert(), "ranking"_a.none(), "out"_a.noconvert(), "threads"_a,
          "Distances of all pairs of points of an embedding (k, n), condensed, or each in its slot.");
    m.def("sstress_line", &sstress_line<T>, "y"_a.noconvert(), "direction"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(),
          "threads"_a, "The coefficients of squared stress along a search direction, a polynomial of degree four.");
    m.def("pairwise_distances", &pairwise_distances<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "out"_a.noconvert(),
          "threads"_a, "params"_a.none() = nb::none(), "Distances of all pairs of rows, condensed.");
    m.def("cross_distances", &cross_distances<T>, "x"_a.noconvert(), "others"_a.noconvert(), "metric"_a, "root"_a, "scale"_a,
          "out"_a.noconvert(), "threads"_a, "params"_a.none() = nb::none(), "Distances from the rows of x to other rows.");
    m.def("mds_out_of_sample", &mds_out_of_sample<T>, "y"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.none(), "steps"_a, "tol"_a,
          "positions"_a.noconvert(), "converged"_a.noconvert(), "threads"_a, "Positions of new points among fixed ones, by majorization.");
    m.def("mds_sgd_round", &mds_sgd_round<T>, "x"_a.noconvert(), "metric"_a, "root"_a, "scale"_a, "order"_a.noconvert(), "size"_a,
          "step_size"_a, "round"_a, "y"_a.noconvert(), "threads"_a, "params"_a.none() = nb::none(),
          "One round of stochastic gradient descent on stress: each block of points is paired with one other; returns Σ (δ - d)².");
}

}  // namespace

void bind_mds(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
}
