#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bindings/tsne_arrays.hpp"
#include "graph/symmetrize.hpp"

namespace {

using lowdim::rows_per_block;

void calibrate_perplexity(const Dense<const float>& distances, double perplexity, const Dense<float>& out, int threads) {
    require(same_shape(distances, out), "out must have the shape of the distances");
    const auto n = static_cast<std::int64_t>(out.shape(0)), k = static_cast<std::int64_t>(out.shape(1));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> squares(static_cast<std::size_t>(k)), weights(static_cast<std::size_t>(k));
            for (std::int64_t i = begin; i < end; ++i) {
                lowdim::kernels().tsne.calibrate_row(distances.data() + i * k, k, std::log(perplexity), squares.data(), weights.data());
                std::copy(weights.begin(), weights.end(), out.data() + i * k);
            }
        });
    });
}

void tsne_step(const AffinityMatrix& affinities, const Embedding& y, const Embedding& repulsion, const nb::tuple& options,
               const Dense<float>& velocity, const Dense<float>& gains, const Dense<float>& out, int threads) {
    const auto edges = affinities.of_rows(y.shape(0));
    const auto n = static_cast<std::int64_t>(y.shape(0));
    require(same_shape(repulsion, y) && same_shape(velocity, y) && same_shape(gains, y) && same_shape(out, y),
            "all arrays must have the shape of the embedding");
    require(options.size() == 7, "there must be seven options");
    const auto number = [&](int i) { return static_cast<float>(nb::cast<double>(options[i])); };
    const lowdim::GradientStep step = {number(0), number(1), number(2), number(3), number(4), number(5), number(6)};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        for_axes(y.shape(1), [&]<int D>() {
            std::vector<double> sums(static_cast<std::size_t>(lowdim::block_count(n, rows_per_block) * D));
            lowdim::parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
                lowdim::kernels().tsne.gradient<D>().gradient_step(edges, step, y.data(), repulsion.data(), velocity.data(), gains.data(),
                                                                   out.data(), begin, end, sums.data() + begin / rows_per_block * D);
            });
            double total[D] = {};
            for (std::size_t b = 0; b < sums.size(); ++b) total[b % D] += sums[b];
            lowdim::parallel_ranges(n, 1 << 14, team, [&](std::int64_t begin, std::int64_t end) {
                for (int a = 0; a < D; ++a) {
                    const auto mean = static_cast<float>(total[a] / static_cast<double>(n));
                    for (std::int64_t i = begin; i < end; ++i) out.data()[i * D + a] -= mean;
                }
            });
        });
    });
}

double attraction_loss(const AffinityMatrix& affinities, const Embedding& y, double dof, int threads) {
    const auto edges = affinities.of_rows(y.shape(0));
    const auto n = static_cast<std::int64_t>(y.shape(0));
    std::vector<double> parts(static_cast<std::size_t>(lowdim::block_count(n, rows_per_block)));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
                parts[begin / rows_per_block] =
                    lowdim::kernels().tsne.gradient<D>().attraction_loss(edges, y.data(), 1.0 / dof, begin, end);
            });
        });
    });
    return in_order(parts);
}

}  // namespace

void bind_tsne(nb::module_& m) {
    m.def("calibrate_perplexity", &calibrate_perplexity, "distances"_a.noconvert(), "perplexity"_a, "out"_a.noconvert(), "threads"_a,
          "Gaussian weights of every row, summing to one, with the given perplexity.");
    m.def("tsne_step", &tsne_step, "affinities"_a, "y"_a.noconvert(), "repulsion"_a.noconvert(), "options"_a,
          "velocity"_a.noconvert(), "gains"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "One gradient step of t-SNE with momentum and gains; the result is centered.\n\n"
          "options: exaggeration, learning rate, momentum, largest step, 1 / Z, 1 / dof, factor of the gradient.");
    m.def("attraction_loss", &attraction_loss, "affinities"_a, "y"_a.noconvert(), "dof"_a, "threads"_a,
          "The attractive part of the loss: the sum of value * log(1 + d**2 / dof) over all entries.");
}
