#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bindings/tsne_arrays.hpp"
#include "graph/symmetrize.hpp"

namespace {

using lowdim::rows_a_block;

void calibrate(const Dense<const float>& distances, double perplexity, const Dense<float>& out, int threads) {
    require(same_shape(distances, out), "out must have the shape of the distances");
    const auto n = static_cast<std::int64_t>(out.shape(0)), k = static_cast<std::int64_t>(out.shape(1));
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> squares(static_cast<std::size_t>(k)), weights(static_cast<std::size_t>(k));
            for (std::int64_t i = begin; i < end; ++i) {
                lowdim::kernels().tsne.calibrate_row(distances.data() + i * k, k, std::log(perplexity), squares.data(), weights.data());
                std::copy(weights.begin(), weights.end(), out.data() + i * k);
            }
        });
    });
}

void descend(const Starts& starts, const Ids& columns, const Values& values, const Map& y, const Map& repulsion,
             const nb::tuple& rule, const Dense<float>& velocity, const Dense<float>& gains, const Dense<float>& out, int threads) {
    const auto edges = edges_of(starts, columns, values, y.shape(0));
    const auto n = static_cast<std::int64_t>(y.shape(0));
    require(same_shape(repulsion, y) && same_shape(velocity, y) && same_shape(gains, y) && same_shape(out, y),
            "all arrays must have the shape of the map");
    require(rule.size() == 7, "a rule has seven numbers");
    const auto number = [&](int i) { return static_cast<float>(nb::cast<double>(rule[i])); };
    const lowdim::Descent descent = {number(0), number(1), number(2), number(3), number(4), number(5), number(6)};
    run(threads, [&](const lowdim::Crew& crew) {
        for_axes(y.shape(1), [&]<int D>() {
            std::vector<double> sums(static_cast<std::size_t>(lowdim::blocks_of(n, rows_a_block) * D));
            lowdim::parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
                lowdim::kernels().tsne.on<D>().descend(edges, descent, y.data(), repulsion.data(), velocity.data(), gains.data(),
                                                       out.data(), begin, end, sums.data() + begin / rows_a_block * D);
            });
            double total[D] = {};
            for (std::size_t b = 0; b < sums.size(); ++b) total[b % D] += sums[b];
            lowdim::parallel_ranges(n, 1 << 14, crew, [&](std::int64_t begin, std::int64_t end) {
                for (int a = 0; a < D; ++a) {
                    const auto mean = static_cast<float>(total[a] / static_cast<double>(n));
                    for (std::int64_t i = begin; i < end; ++i) out.data()[i * D + a] -= mean;
                }
            });
        });
    });
}

double log_lengths(const Starts& starts, const Ids& columns, const Values& values, const Map& y, double dof, int threads) {
    const auto edges = edges_of(starts, columns, values, y.shape(0));
    require_below(columns, y.shape(0), threads);
    const auto n = static_cast<std::int64_t>(y.shape(0));
    std::vector<double> parts(static_cast<std::size_t>(lowdim::blocks_of(n, rows_a_block)));
    run(threads, [&](const lowdim::Crew& crew) {
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_ranges(n, rows_a_block, crew, [&](std::int64_t begin, std::int64_t end) {
                parts[begin / rows_a_block] = lowdim::kernels().tsne.on<D>().log_lengths(edges, y.data(), 1.0 / dof, begin, end);
            });
        });
    });
    return in_order(parts);
}

}  // namespace

void bind_tsne(nb::module_& m) {
    m.def("calibrate", &calibrate, "distances"_a.noconvert(), "perplexity"_a, "out"_a.noconvert(), "threads"_a,
          "Gaussian weights of every row, summing to one, with the perplexity asked for.");
    m.def("descend", &descend, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "repulsion"_a.noconvert(), "rule"_a, "velocity"_a.noconvert(), "gains"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "One step of t-SNE's descent, centred.\n\n"
          "rule: exaggeration, rate, momentum, longest step, 1 / sum, 1 / dof, factor of the gradient.");
    m.def("log_lengths", &log_lengths, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "dof"_a, "threads"_a, "Sum of value * log(1 + d**2 / dof) over all entries.");
}
