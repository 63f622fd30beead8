#include <algorithm>
#include <numeric>

#include "bindings/run.hpp"
#include "umap/epochs.hpp"
#include "umap/memberships.hpp"

namespace {

void smooth_knn(const Dense<const float>& distances, double target, double local_connectivity, const Vector<float>& rhos,
                const Vector<float>& sigmas, const Dense<float>& weights, int threads) {
    const std::size_t n = distances.shape(0), k = distances.shape(1);
    require(rhos.shape(0) == n && sigmas.shape(0) == n && same_shape(weights, distances),
            "rhos and sigmas must have one entry per row, and weights the shape of the distances");
    const double sum = std::accumulate(distances.data(), distances.data() + n * k, 0.0);
    const double mean = n * k == 0 ? 0.0 : sum / (static_cast<double>(n) * static_cast<double>(k + 1));
    const lowdim::SmoothKnnInput all = {distances.data(), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k),
                                        target,           local_connectivity,           mean};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(all.n, 1024, team, [&](std::int64_t begin, std::int64_t end) {
            lowdim::smooth_knn_rows(all, begin, end, rhos.data(), sigmas.data(), weights.data());
        });
    });
}

// Epochs first … last of `total`; see UmapStep. `positions` is changed in place.
void umap_epochs(const Dense<float>& positions, std::optional<Dense<const float>> fixed, const Starts& starts, const Ids& tails,
                 const Vector<const std::uint32_t>& rates, std::int64_t first, std::int64_t last, std::int64_t total, float alpha,
                 const Vector<const float>& params, std::int32_t negative_samples, std::uint64_t seed,
                 std::optional<Vector<const float>> density, std::optional<Vector<const float>> inverse_weights, int threads,
                 std::int32_t space) {
    const std::size_t rows = positions.shape(0), dims = positions.shape(1);
    const std::size_t count = fixed ? fixed->shape(0) : rows;
    require_graph(starts, rows, tails, count, threads);
    require(rows >= 1 && count >= 1 && dims >= 1, "there must be rows and coordinates");
    require(!fixed || fixed->shape(1) == dims, "both embeddings must have the same dimensions");
    require(std::max(rows, count) * dims < (std::size_t{1} << 31), "there are too many coordinates for 32-bit indices");
    require(tails.shape(0) < (std::size_t{1} << 31), "there are too many edges for 32-bit indices");
    require(rates.shape(0) == tails.shape(0), "rates must have one entry per edge");
    require(params.shape(0) == 3 && negative_samples >= 0, "params must be a, b and repulsion, and negative_samples must not be negative");
    require(0 <= first && first <= last && last <= total, "epochs are out of order");
    require(0 <= space && space < lowdim::space_count, "space must be 0 (Euclidean), 1 (sphere), 2 (hyperboloid) or 3 (Manhattan)");
    require(space != lowdim::space_haversine || dims == 3, "positions on the sphere must have three coordinates");
    require(space == lowdim::space_euclidean || !density, "density needs the Euclidean space");
    lowdim::UmapStep step = {};
    step.space = space;
    step.starts = starts.data(), step.tails = tails.data(), step.rates = rates.data();
    step.tail_positions = fixed ? fixed->data() : nullptr;
    step.count = static_cast<std::int64_t>(count), step.dims = static_cast<std::int64_t>(dims);
    step.params = {params(0), params(1), params(2), negative_samples};
    step.shared_negatives = fixed.has_value();
    step.density = data_or_null(density, 2 * rows, "density must have two numbers per row");
    step.tail_density = fixed ? nullptr : step.density;
    step.inverse_weights = data_or_null(inverse_weights, rates.shape(0), "inverse_weights must have one number per edge");
    require((step.density == nullptr) == (step.inverse_weights == nullptr), "density and inverse_weights must be given together");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::umap_epochs(step, static_cast<std::int64_t>(rows), positions.data(), {first, last, total, alpha, seed}, team);
    });
}

void densmap_sums(const Dense<const float>& positions, std::optional<Dense<const float>> tail_positions, const Starts& starts,
                  const Ids& tails, float a, float b, const Vector<float>& phi_sums, const Vector<float>& phi_distance_sums, int threads) {
    const std::size_t n = positions.shape(0);
    require_graph(starts, n, tails, tail_positions ? tail_positions->shape(0) : n, threads);
    require(!tail_positions || tail_positions->shape(1) == positions.shape(1), "both embeddings must have the same dimensions");
    require(phi_sums.shape(0) == n && phi_distance_sums.shape(0) == n, "out must have one entry per row");
    lowdim::UmapStep step = {};
    step.starts = starts.data(), step.tails = tails.data(), step.head_positions = positions.data();
    step.tail_positions = tail_positions ? tail_positions->data() : positions.data();
    step.dims = static_cast<std::int64_t>(positions.shape(1));
    step.params.a = a, step.params.b = b;
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(n), 128, team, [&](std::int64_t begin, std::int64_t end) {
            lowdim::kernels().umap.densmap_sums(step, begin, end, phi_sums.data(), phi_distance_sums.data());
        });
    });
}

void fast_powers(const Vector<const float>& x, float b, const Vector<float>& out) {
    require(out.shape(0) == x.shape(0), "out must be as long as x");
    lowdim::kernels().umap.fast_powers(x.data(), b, out.data(), static_cast<std::int64_t>(x.shape(0)));
}

}  // namespace

void bind_umap(nb::module_& m) {
    m.def("smooth_knn", &smooth_knn, "distances"_a.noconvert(), "target"_a, "local_connectivity"_a, "rhos"_a.noconvert(),
          "sigmas"_a.noconvert(), "weights"_a.noconvert(), "threads"_a,
          "Memberships of each row's neighbors, with their rho and sigma (UMAP's smooth kNN distances).");
    m.def("umap_epochs", &umap_epochs, "positions"_a.noconvert(), "fixed"_a.noconvert().none(), "starts"_a.noconvert(),
          "tails"_a.noconvert(), "rates"_a.noconvert(), "first"_a, "last"_a, "total"_a, "alpha"_a, "params"_a.noconvert(),
          "negative_samples"_a, "seed"_a, "density"_a.noconvert().none(), "inverse_weights"_a.noconvert().none(), "threads"_a,
          "space"_a = 0, "Stochastic gradient descent of UMAP for some epochs, in place.");
    m.def("densmap_sums", &densmap_sums, "positions"_a.noconvert(), "tail_positions"_a.noconvert().none(), "starts"_a.noconvert(),
          "tails"_a.noconvert(), "a"_a, "b"_a, "phi_sums"_a.noconvert(), "phi_distance_sums"_a.noconvert(), "threads"_a,
          "densMAP: sums of phi and phi d^2 over each row's edges.");
    m.def("fast_powers", &fast_powers, "x"_a.noconvert(), "b"_a, "out"_a.noconvert(), "x^b as UMAP's optimizer computes it.");
}
