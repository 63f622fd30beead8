#include <algorithm>

#include "binding.hpp"
#include "umap_epochs.hpp"

namespace {

// scale (S x) + shift x + back z into out.
void filter_step(const Starts& starts, const Ids& columns, const Vector<const float>& values, const Dense<const float>& x,
                 const Dense<const float>& z, const Dense<float>& out, float scale, float shift, float back, int threads) {
    const std::size_t n = x.shape(0), width = x.shape(1);
    require(width == 8 || width == 16 || width == 32, "a block must have 8, 16 or 32 vectors");
    require(same_shape(z, x) && same_shape(out, x), "z and out must be as x");
    require_graph(starts, n, columns, n, threads);
    require(same_shape(values, columns), "not compressed sparse rows: every column needs a value");
    const lowdim::FilterStep step = {starts.data(), columns.data(), values.data(), x.data(), z.data(),
                                     out.data(),    scale,          shift,         back};
    const auto kernel = lowdim::kernels().filter.rows[width == 8 ? 0 : width == 16 ? 1 : 2];
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(n), 1024, crew,
                                [&](std::int64_t begin, std::int64_t end) { kernel(step, begin, end); });
    });
}

// Epochs first … last of `total`; see UmapStep. `positions` is changed in place.
void umap_epochs(const Dense<float>& positions, std::optional<Dense<const float>> frozen, const Starts& starts, const Ids& tails,
                 const Vector<const std::uint32_t>& rates, std::int64_t first, std::int64_t last, std::int64_t total,
                 float alpha, const Vector<const float>& forces, std::int32_t negatives, std::uint64_t seed,
                 std::optional<Vector<const float>> crowding, std::optional<Vector<const float>> inverse, int threads) {
    const std::size_t rows = positions.shape(0), dims = positions.shape(1);
    const std::size_t count = frozen ? frozen->shape(0) : rows;
    require_graph(starts, rows, tails, count, threads);
    require(rows >= 1 && count >= 1 && dims >= 1, "there must be rows and coordinates");
    require(!frozen || frozen->shape(1) == dims, "both maps must have the same coordinates");
    require(std::max(rows, count) * dims < (std::size_t{1} << 31), "there are too many coordinates for 32-bit indices");
    require(tails.shape(0) < (std::size_t{1} << 31), "there are too many edges for 32-bit indices");
    require(rates.shape(0) == tails.shape(0), "rates must have one entry an edge");
    require(forces.shape(0) == 3 && negatives >= 0, "forces are a, b and repulsion, negatives are a count");
    require(0 <= first && first <= last && last <= total, "epochs are out of order");
    lowdim::UmapStep step = {};
    step.starts = starts.data(), step.tails = tails.data(), step.rates = rates.data();
    step.others = frozen ? frozen->data() : nullptr;
    step.count = static_cast<std::int64_t>(count), step.dims = static_cast<std::int64_t>(dims);
    step.forces = {forces(0), forces(1), forces(2), negatives};
    step.same_draws = frozen.has_value();
    step.crowding = data_or_null(crowding, 2 * rows, "crowding must have two numbers a row");
    step.crowding_of_others = frozen ? nullptr : step.crowding;
    step.inverse = data_or_null(inverse, rates.shape(0), "inverse must have one number an edge");
    require((step.crowding == nullptr) == (step.inverse == nullptr), "crowding and inverse go together");
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::umap_epochs(step, static_cast<std::int64_t>(rows), positions.data(), {first, last, total, alpha, seed}, crew);
    });
}

void umap_radii(const Dense<const float>& positions, std::optional<Dense<const float>> others, const Starts& starts, const Ids& tails,
                float a, float b, const Vector<float>& shares, const Vector<float>& spreads, int threads) {
    const std::size_t n = positions.shape(0);
    require_graph(starts, n, tails, others ? others->shape(0) : n, threads);
    require(!others || others->shape(1) == positions.shape(1), "both maps must have the same coordinates");
    require(shares.shape(0) == n && spreads.shape(0) == n, "out must have one entry a row");
    lowdim::UmapStep step = {};
    step.starts = starts.data(), step.tails = tails.data(), step.heads = positions.data();
    step.others = others ? others->data() : positions.data();
    step.dims = static_cast<std::int64_t>(positions.shape(1));
    step.forces.a = a, step.forces.b = b;
    run(threads, [&](const lowdim::Crew& crew) {
        lowdim::parallel_ranges(static_cast<std::int64_t>(n), 128, crew, [&](std::int64_t begin, std::int64_t end) {
            lowdim::kernels().umap.radii(step, begin, end, shares.data(), spreads.data());
        });
    });
}

void powers(const Vector<const float>& x, float b, const Vector<float>& out) {
    require(out.shape(0) == x.shape(0), "out must be as long as x");
    lowdim::kernels().umap.powers(x.data(), b, out.data(), static_cast<std::int64_t>(x.shape(0)));
}

}  // namespace

void bind_umap(nb::module_& m) {
    m.def("filter_step", &filter_step, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "x"_a.noconvert(),
          "z"_a.noconvert(), "out"_a.noconvert(), "scale"_a, "shift"_a, "back"_a, "threads"_a, "out = scale S x + shift x + back z.");
    m.def("umap_epochs", &umap_epochs, "positions"_a.noconvert(), "frozen"_a.noconvert().none(), "starts"_a.noconvert(),
          "tails"_a.noconvert(), "rates"_a.noconvert(), "first"_a, "last"_a, "total"_a, "alpha"_a,
          "forces"_a.noconvert(), "negatives"_a, "seed"_a, "crowding"_a.noconvert().none(), "inverse"_a.noconvert().none(),
          "threads"_a, "Move the rows of a map for some epochs.");
    m.def("umap_radii", &umap_radii, "positions"_a.noconvert(), "others"_a.noconvert().none(), "starts"_a.noconvert(), "tails"_a.noconvert(), "a"_a, "b"_a,
          "shares"_a.noconvert(), "spreads"_a.noconvert(), "threads"_a, "Sums over each row's edges of phi and phi d^2.");
    m.def("powers", &powers, "x"_a.noconvert(), "b"_a, "out"_a.noconvert(), "x^b as the layout computes it.");
}
