#include <algorithm>
#include <complex>
#include <optional>
#include <vector>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/vector.h>

#include "bindings/tsne_arrays.hpp"
#include "tsne/mesh_scatter.hpp"
#include "tsne/octree.hpp"

namespace {

using Cells = std::vector<std::int64_t>;

constexpr std::int64_t most_cells = 1 << 24;  // float counts them exactly

using Grid = Numbers<float, nb::c_contig>;
using ConstGrid = Numbers<const float, nb::c_contig>;

std::vector<float> axis_by_axis(const Embedding& y) {
    const std::size_t n = y.shape(0), axes = y.shape(1);
    std::vector<float> out(n * axes);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < axes; ++a) out[a * n + i] = y.data()[i * axes + a];
    return out;
}

double repulsion_exact(const Embedding& y, double dof, const Dense<float>& out, int threads) {
    require(same_shape(out, y), "out must have the shape of the embedding");
    const auto n = static_cast<std::int64_t>(y.shape(0));
    constexpr std::int64_t rows_per_block = 32;  // rows are expensive here
    std::vector<double> parts(static_cast<std::size_t>(lowdim::block_count(n, rows_per_block)));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const auto axes = axis_by_axis(y);
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_ranges(n, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
                parts[begin / rows_per_block] = lowdim::kernels().tsne.gradient<D>().repulsion_exact(
                    y.data(), axes.data(), n, static_cast<float>(dof), begin, end, out.data());
            });
        });
    });
    return in_order(parts);
}

// Points of a group share their nodes of the tree; each group is owned by one thread, and sums are added in tree order.
double repulsion_barnes_hut(const Embedding& y, double dof, double opening, double min_extent, const Dense<float>& out, int threads) {
    require(y.shape(1) == 3 && same_shape(out, y), "Barnes-Hut needs an embedding in three dimensions, and out of its shape");
    require(y.shape(0) >= 1 && y.shape(0) < (std::size_t{1} << 31), "Barnes-Hut needs at least one point and at most 2^31 - 1");
    std::vector<double> parts;
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const lowdim::Octree tree(y.data(), static_cast<std::int64_t>(y.shape(0)), team);
        const auto& groups = tree.groups();
        lowdim::TreeScratchPool scratches(tree, team);
        parts.resize(groups.size());
        const auto view = tree.view(static_cast<float>(opening), static_cast<float>(min_extent));
        lowdim::parallel_blocks(static_cast<std::int64_t>(groups.size()), team, [&](std::int64_t g) {
            parts[g] = lowdim::kernels().tsne.barnes_hut.repulsion(view, groups[g].first, groups[g].second, static_cast<float>(dof),
                                                                   tree.order(), scratches.of_this_thread(), out.data());
        });
    });
    return in_order(parts);
}

lowdim::Mesh mesh_of(const Vector<const float>& origin, double spacing, const Cells& cells) {
    require(cells.size() == 1 || cells.size() == 2, "a mesh must have 1 or 2 dimensions");
    lowdim::Mesh mesh = {{1, 1}, {0, 0}, static_cast<float>(1.0 / spacing)};
    require(origin.shape(0) == cells.size(), "the mesh must have the dimensions of the embedding");
    for (std::size_t a = 0; a < cells.size(); ++a) {
        require(cells[a] >= 4 && cells[a] < most_cells, "a mesh needs at least four cells along every axis, and fewer than 2^24");
        mesh.cells[a] = cells[a];
        mesh.origin[a] = origin(a);
    }
    return mesh;
}

template <class Work>
void for_mesh_axes(std::size_t axes, const Work& work) {
    require(axes == 1 || axes == 2, "a mesh must have 1 or 2 dimensions");
    if (axes == 1) work.template operator()<1>();
    if (axes == 2) work.template operator()<2>();
}

void scatter_to_mesh(const Embedding& y, const Vector<const float>& origin, double spacing, const Grid& grid, int threads) {
    require(grid.ndim() == y.shape(1), "the grid must have the dimensions of the embedding");
    Cells cells;
    for (std::size_t a = 0; a < grid.ndim(); ++a) cells.push_back(static_cast<std::int64_t>(grid.shape(a)));
    const auto mesh = mesh_of(origin, spacing, cells);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        for_mesh_axes(y.shape(1), [&]<int D>() {
            lowdim::scatter_to_mesh<D>(mesh, y.data(), static_cast<std::int64_t>(y.shape(0)), grid.data(), team);
        });
    });
}

lowdim::MeshFields fields_of(const ConstGrid& fields, const Cells& cells) {
    const std::size_t axes = cells.size();
    require(fields.ndim() == axes + 1 && fields.shape(0) == axes, "there must be as many fields as dimensions");
    for (std::size_t a = 0; a < axes; ++a)
        require(a + 1 == axes ? static_cast<std::int64_t>(fields.shape(a + 1)) >= cells[a]
                              : static_cast<std::int64_t>(fields.shape(a + 1)) == cells[a],
                "the fields must cover the mesh");
    return {fields.data(), static_cast<std::int64_t>(fields.size() / fields.shape(0)), static_cast<std::int64_t>(fields.shape(axes))};
}

void gather_from_mesh(const ConstGrid& fields, const Cells& cells, const Vector<const float>& origin, double spacing, const Embedding& y,
                      const Dense<float>& out, int threads) {
    require(cells.size() == y.shape(1) && same_shape(out, y), "out must have the shape of the embedding");
    const auto mesh = mesh_of(origin, spacing, cells);
    const auto values = fields_of(fields, cells);
    const auto n = static_cast<std::int64_t>(y.shape(0));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        for_mesh_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_ranges(n, 512, team, [&](std::int64_t begin, std::int64_t end) {
                lowdim::kernels().tsne.mesh<D>().gather_from_mesh(mesh, values, y.data(), begin, end, out.data());
            });
        });
    });
}

double multiply_spectra(const Numbers<const std::complex<float>, nb::c_contig>& density, const ConstGrid& spectra,
                        bool even, const Numbers<std::complex<float>, nb::c_contig>& out, int threads) {
    const std::size_t axes = density.ndim();
    require(axes >= 1 && spectra.ndim() == axes + 1 && spectra.shape(0) == axes + 1 && spectra.size() == (axes + 1) * density.size(),
            "spectra must have one field more than axes, each of the density's shape");
    require(out.ndim() == axes + 1 && out.shape(0) == axes && out.size() == axes * density.size(),
            "out must have one field per axis, each of the density's shape");
    require(density.size() > 0, "the spectra must not be empty");
    const auto count = static_cast<std::int64_t>(density.size()), columns = static_cast<std::int64_t>(density.shape(axes - 1));
    const lowdim::Spectra all = {
        reinterpret_cast<const float*>(density.data()), spectra.data(), count, columns, even, static_cast<int>(axes)};
    constexpr std::int64_t rows_per_block = 16;
    std::vector<double> parts(static_cast<std::size_t>(lowdim::block_count(count / columns, rows_per_block)));
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_ranges(count / columns, rows_per_block, team, [&](std::int64_t begin, std::int64_t end) {
            parts[begin / rows_per_block] = lowdim::kernels().tsne.multiply_spectra(all, begin, end, reinterpret_cast<float*>(out.data()));
        });
    });
    return in_order(parts);
}

void tsne_out_of_sample(const Starts& starts, const Ids& columns, const Values& values, const Embedding& y,
                        const std::optional<ConstGrid>& fields, const Cells& cells, const Vector<const float>& origin, double spacing,
                        const nb::tuple& options, const Dense<float>& positions, int threads) {
    const auto edges = edges_of(starts, columns, values, positions.shape(0));
    require(positions.shape(1) == y.shape(1), "positions must have the dimensions of the embedding");
    require_below(columns, y.shape(0), threads);
    lowdim::Mesh mesh = {};
    lowdim::MeshFields values_of_fields = {};
    if (fields) {
        require(cells.size() == y.shape(1), "the mesh must have the dimensions of the embedding");
        mesh = mesh_of(origin, spacing, cells);
        values_of_fields = fields_of(*fields, cells);
    }
    require(options.size() == 8, "there must be eight options");
    const auto number = [&](int i) { return static_cast<float>(nb::cast<double>(options[i])); };
    lowdim::FixedEmbedding map = {y.data(),  nullptr,   static_cast<std::int64_t>(y.shape(0)),
                                  number(0), number(1), number(2),
                                  number(3), number(4), nb::cast<int>(options[5]),
                                  {}};
    const float opening = number(6), min_extent = number(7);
    require(opening == 0 || (y.shape(1) == 3 && y.shape(0) >= 1), "Barnes-Hut needs an embedding in three dimensions");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        const auto axes = axis_by_axis(y);
        map.axes = axes.data();
        std::optional<lowdim::Octree> tree;
        std::optional<lowdim::TreeScratchPool> scratches;
        if (opening > 0) {
            tree.emplace(y.data(), map.n, team);
            scratches.emplace(*tree, team);
            map.tree = tree->view(opening, min_extent);
        }
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_ranges(static_cast<std::int64_t>(positions.shape(0)), 16, team, [&](std::int64_t begin, std::int64_t end) {
                const auto scratch = scratches ? scratches->of_this_thread() : lowdim::TreeScratch{};
                lowdim::kernels().tsne.gradient<D>().out_of_sample(map, mesh, values_of_fields, edges, scratch, begin, end,
                                                                   positions.data());
            });
        });
    });
}

}  // namespace

void bind_tsne_repulsion(nb::module_& m) {
    m.def("repulsion_exact", &repulsion_exact, "y"_a.noconvert(), "dof"_a, "out"_a.noconvert(), "threads"_a,
          "Exact repulsion, summed over all pairs, into `out`; returns the sum of the kernel over all pairs.");
    m.def("repulsion_barnes_hut", &repulsion_barnes_hut, "y"_a.noconvert(), "dof"_a, "opening"_a, "min_extent"_a, "out"_a.noconvert(),
          "threads"_a,
          "Barnes-Hut repulsion in three dimensions, by an octree, into `out`; returns the sum of the kernel over all pairs.\n\n"
          "A node is not opened if its squared extent is at most opening * distance**2 + min_extent.");
    m.def("scatter_to_mesh", &scatter_to_mesh, "y"_a.noconvert(), "origin"_a.noconvert(), "spacing"_a, "grid"_a.noconvert(), "threads"_a,
          "Scatter unit masses at the rows of y to a mesh, by cubic B-splines.");
    m.def("gather_from_mesh", &gather_from_mesh, "fields"_a.noconvert(), "cells"_a, "origin"_a.noconvert(), "spacing"_a, "y"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "Gather forces at the rows of y from a mesh into `out`.");
    m.def("multiply_spectra", &multiply_spectra, "density"_a.noconvert(), "spectra"_a.noconvert(), "even"_a, "out"_a.noconvert(),
          "threads"_a,
          "The density's spectrum times i times those of the forces, after the first; returns the sum of the first kernel over all pairs.\n\n"
          "even: whether the last axis of the mesh is, of which the spectra hold one half.");
    m.def("tsne_out_of_sample", &tsne_out_of_sample, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "y"_a.noconvert(), "fields"_a.none(), "cells"_a, "origin"_a.noconvert(), "spacing"_a, "options"_a, "positions"_a.noconvert(),
          "threads"_a,
          "Gradient descent of `positions` on the fixed embedding y.\n\n"
          "options: dof, 1 / mean sum, learning rate, momentum, largest step, steps, opening and min_extent of the tree (0: none).");
}
