#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>
#include <vector>

#include <nanobind/stl/complex.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "joint.hpp"
#include "octree.hpp"

namespace {

using Starts = Vector<const std::int64_t>;
using Columns = Vector<const std::int32_t>;
using Values = Vector<const float>;
using Map = Dense<const float>;

constexpr std::int64_t slabs_a_band = 16;
constexpr std::int64_t points_a_chunk = 1 << 14;

// Runs with the GIL released, and raises what Ctrl-C left behind.
template <class Work>
void run(const Work& work) {
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        work(stop);
    }
    rethrow_if_stopped(stop);
}

template <class Work>
void for_axes(std::size_t axes, const Work& work) {
    require(axes >= 1 && axes <= 3, "a map has 1, 2 or 3 axes");
    if (axes == 1) work.template operator()<1>();
    if (axes == 2) work.template operator()<2>();
    if (axes == 3) work.template operator()<3>();
}

// A mesh has one axis or two.
template <class Work>
void for_mesh_axes(std::size_t axes, const Work& work) {
    require(axes == 1 || axes == 2, "a mesh has 1 or 2 axes");
    if (axes == 1) work.template operator()<1>();
    if (axes == 2) work.template operator()<2>();
}

// `descend` reads the columns at every step, and looking at them once more would take a tenth of it: require_edges does
// so once for all steps.
lowdim::MapEdges edges_of(const Starts& starts, const Columns& columns, const Values& values, std::size_t rows) {
    require(starts.shape(0) == rows + 1 && columns.shape(0) == values.shape(0), "not a matrix of compressed sparse rows");
    require(starts(0) == 0 && static_cast<std::size_t>(starts(rows)) == columns.shape(0), "the starts must span the entries");
    require(std::is_sorted(starts.data(), starts.data() + rows + 1), "the starts must ascend");
    return {starts.data(), columns.data(), values.data()};
}

double in_order(const std::vector<double>& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

// Throws unless all of these are numbers of rows.
void require_rows(const std::int32_t* columns, std::size_t count, std::size_t rows, int threads) {
    constexpr std::int64_t stretch = 1 << 18;
    const auto all = static_cast<std::int64_t>(count);
    std::atomic<bool> right{true};
    run([&](lowdim::Stop& stop) {
        lowdim::parallel_blocks((all + stretch - 1) / stretch, threads, stop, [&](std::int64_t block) {
            const std::int64_t begin = block * stretch;
            if (!lowdim::kernels().tsne.name_rows(columns + begin, std::min(stretch, all - begin), static_cast<std::int64_t>(rows))) right = false;
        });
    });
    require(right, "an index is out of range");
}

void require_edges(const Starts& starts, const Columns& columns, const Values& values, std::size_t rows, int threads) {
    edges_of(starts, columns, values, rows);
    require_rows(columns.data(), columns.size(), rows, threads);
}

void calibrate(const Dense<const float>& distances, double perplexity, const Dense<float>& out, int threads) {
    require(distances.shape(0) == out.shape(0) && distances.shape(1) == out.shape(1), "out must have the shape of the distances");
    const auto n = static_cast<std::int64_t>(out.shape(0)), k = static_cast<std::int64_t>(out.shape(1));
    run([&](lowdim::Stop& stop) {
        lowdim::over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
            std::vector<double> squares(static_cast<std::size_t>(k)), weights(static_cast<std::size_t>(k));
            for (std::int64_t i = begin; i < end; ++i) {
                lowdim::kernels().tsne.calibrate_row(distances.data() + i * k, k, std::log(perplexity), squares.data(), weights.data());
                std::copy(weights.begin(), weights.end(), out.data() + i * k);
            }
        });
    });
}

nb::tuple join_affinities(const Dense<const std::int32_t>& indices, const Dense<const float>& weights, double scale, int threads) {
    require(indices.shape(0) == weights.shape(0) && indices.shape(1) == weights.shape(1), "indices and weights must have one shape");
    const auto n = static_cast<std::int64_t>(indices.shape(0)), k = static_cast<std::int64_t>(indices.shape(1));
    require_rows(indices.data(), indices.size(), indices.shape(0), threads);
    std::vector<std::int64_t> own(static_cast<std::size_t>(n + 1)), starts;
    for (std::int64_t i = 0; i <= n; ++i) own[i] = i * k;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    run([&](lowdim::Stop& stop) {
        const auto weight_of = [&](std::int64_t p) { return weights.data()[p]; };
        const lowdim::BothWays<float> views(own.data(), indices.data(), n, weight_of, threads, stop);
        lowdim::join_rows(
            views, starts, columns, threads, stop, [](float a, float b, float& sum) { return sum = a + b, true; },
            [&](std::size_t count) { values.resize(count); },
            [&](std::int64_t at, float sum) { values[at] = static_cast<float>(scale * static_cast<double>(sum)); });
    });
    return nb::make_tuple(array_of(std::move(starts)), array_of(std::move(columns)), array_of(std::move(values)));
}

void reorder_edges(const Starts& starts, const Columns& columns, const Values& values, const Columns& order,
                   const Vector<std::int64_t>& new_starts, const Vector<std::int32_t>& new_columns, const Vector<float>& new_values,
                   int threads) {
    const auto n = static_cast<std::int64_t>(order.shape(0));
    const auto edges = edges_of(starts, columns, values, order.shape(0));
    require(new_starts.shape(0) == starts.shape(0) && new_columns.shape(0) == columns.shape(0) &&
                new_values.shape(0) == values.shape(0),
            "the new arrays must be as long as the old");
    require_rows(columns.data(), columns.size(), order.shape(0), threads);
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) {
        require(order(r) >= 0 && order(r) < n && !seen[order(r)], "the order must name every row once");
        seen[order(r)] = true;
    }
    run([&](lowdim::Stop& stop) {
        lowdim::reorder_edges(edges, n, order.data(), new_starts.data(), new_columns.data(), new_values.data(), threads, stop);
    });
}

void descend(const Starts& starts, const Columns& columns, const Values& values, const Map& y, const Map& repulsion,
             const nb::tuple& rule, const Dense<float>& velocity, const Dense<float>& gains, const Dense<float>& out, int threads) {
    const auto edges = edges_of(starts, columns, values, y.shape(0));
    const auto n = static_cast<std::int64_t>(y.shape(0));
    for (const auto* other : {&velocity, &gains, &out})
        require(other->shape(0) == y.shape(0) && other->shape(1) == y.shape(1), "all arrays must have the shape of the map");
    require(repulsion.shape(0) == y.shape(0) && repulsion.shape(1) == y.shape(1), "all arrays must have the shape of the map");
    require(rule.size() == 7, "a rule has seven numbers");
    const auto number = [&](int i) { return static_cast<float>(nb::cast<double>(rule[i])); };
    const lowdim::Descent descent = {number(0), number(1), number(2), number(3), number(4), number(5), number(6)};
    run([&](lowdim::Stop& stop) {
        for_axes(y.shape(1), [&]<int D>() {
            std::vector<double> sums(static_cast<std::size_t>(lowdim::blocks_of(n) * D));
            lowdim::over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
                lowdim::kernels().tsne.on<D>().descend(edges, descent, y.data(), repulsion.data(), velocity.data(), gains.data(),
                                                       out.data(), begin, end, sums.data() + block * D);
            });
            double mean[D] = {};
            for (std::size_t b = 0; b < sums.size(); ++b) mean[b % D] += sums[b];
            for (std::int64_t i = 0; i < n; ++i)
                for (int a = 0; a < D; ++a) out.data()[i * D + a] -= static_cast<float>(mean[a] / static_cast<double>(n));
        });
    });
}

double log_lengths(const Starts& starts, const Columns& columns, const Values& values, const Map& y, double dof, int threads) {
    const auto edges = edges_of(starts, columns, values, y.shape(0));
    require_rows(columns.data(), columns.size(), y.shape(0), threads);
    const auto n = static_cast<std::int64_t>(y.shape(0));
    std::vector<double> parts(static_cast<std::size_t>(lowdim::blocks_of(n)));
    run([&](lowdim::Stop& stop) {
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
                parts[block] = lowdim::kernels().tsne.on<D>().log_lengths(edges, y.data(), 1.0 / dof, begin, end);
            });
        });
    });
    return in_order(parts);
}

std::vector<float> axis_by_axis(const Map& y) {
    const std::size_t n = y.shape(0), axes = y.shape(1);
    std::vector<float> out(n * axes);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < axes; ++a) out[a * n + i] = y.data()[i * axes + a];
    return out;
}

double repel_directly(const Map& y, double dof, const Dense<float>& out, int threads) {
    require(out.shape(0) == y.shape(0) && out.shape(1) == y.shape(1), "out must have the shape of the map");
    const auto n = static_cast<std::int64_t>(y.shape(0));
    constexpr std::int64_t few = 32;  // rows are long here
    std::vector<double> parts(static_cast<std::size_t>((n + few - 1) / few));
    run([&](lowdim::Stop& stop) {
        const auto axes = axis_by_axis(y);
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_blocks(static_cast<std::int64_t>(parts.size()), threads, stop, [&](std::int64_t block) {
                parts[block] = lowdim::kernels().tsne.on<D>().repel_directly(y.data(), axes.data(), n, static_cast<float>(dof), block * few,
                                                                             std::min(n, (block + 1) * few), out.data());
            });
        });
    });
    return in_order(parts);
}

// Room for every thread's sources.
class TreeRooms {
  public:
    TreeRooms(const lowdim::Octree& tree, int threads) : tree_(tree), rooms_(static_cast<std::size_t>(std::max(1, threads))) {}

    lowdim::TreeScratch mine() {
        auto& room = rooms_[static_cast<std::size_t>(lowdim::thread_index())];
        if (room.empty()) room.resize(tree_.scratch_size());
        return tree_.scratch(room.data());
    }

  private:
    const lowdim::Octree& tree_;
    std::vector<std::vector<float>> rooms_;
};

// Groups of points see the same nodes of the tree; each is one thread's, and the sums are added in the tree's order.
double repel_by_tree(const Map& y, double dof, double opening, double grain, const Dense<float>& out, int threads) {
    require(y.shape(1) == 3 && out.shape(1) == 3 && out.shape(0) == y.shape(0), "a tree is for maps of three axes, and out for the same");
    require(y.shape(0) >= 1 && y.shape(0) < (std::size_t{1} << 31), "a tree needs at least one point and at most 2^31 - 1");
    std::vector<double> parts;
    run([&](lowdim::Stop& stop) {
        const lowdim::Octree tree(y.data(), static_cast<std::int64_t>(y.shape(0)), threads, stop);
        const auto& groups = tree.groups();
        TreeRooms rooms(tree, threads);
        parts.resize(groups.size());
        const auto view = tree.view(static_cast<float>(opening), static_cast<float>(grain));
        lowdim::parallel_blocks(static_cast<std::int64_t>(groups.size()), threads, stop, [&](std::int64_t g) {
            parts[g] = lowdim::kernels().tsne.tree.repel(view, groups[g].first, groups[g].second, static_cast<float>(dof), tree.order(),
                                                         rooms.mine(), out.data());
        });
    });
    return in_order(parts);
}

lowdim::Mesh mesh_of(const Vector<const float>& origin, double spacing, const std::vector<std::int64_t>& cells) {
    require(cells.size() == 1 || cells.size() == 2, "a mesh has 1 or 2 axes");
    lowdim::Mesh mesh = {{1, 1}, {0, 0}, static_cast<float>(1.0 / spacing)};
    require(origin.shape(0) == cells.size(), "the mesh must have the axes of the map");
    for (std::size_t a = 0; a < cells.size(); ++a) {
        require(cells[a] >= 4, "a mesh needs four cells along every axis");
        mesh.cells[a] = cells[a];
        mesh.origin[a] = origin(a);
    }
    return mesh;
}

using Grid = nb::ndarray<float, nb::c_contig, nb::device::cpu>;
using ConstGrid = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

// Places are sorted by slab (counting, in fixed chunks), so that a band of slabs is filled by one thread in one order.
void spread_masses(const Map& y, const Vector<const float>& origin, double spacing, const Grid& grid, int threads) {
    require(grid.ndim() == y.shape(1), "the grid must have the axes of the map");
    std::vector<std::int64_t> cells;
    for (std::size_t a = 0; a < grid.ndim(); ++a) cells.push_back(static_cast<std::int64_t>(grid.shape(a)));
    const auto mesh = mesh_of(origin, spacing, cells);
    const auto n = static_cast<std::int64_t>(y.shape(0));
    const std::int64_t slabs = cells[0], chunks = (n + points_a_chunk - 1) / points_a_chunk;
    run([&](lowdim::Stop& stop) {
        for_mesh_axes(y.shape(1), [&]<int D>() {
            const auto& kernels = lowdim::kernels().tsne.mesh<D>();
            std::vector<std::int32_t> nodes(static_cast<std::size_t>(n));
            std::vector<std::int64_t> places(static_cast<std::size_t>(chunks * slabs)), starts(static_cast<std::size_t>(slabs + 1));
            std::vector<float> sorted(static_cast<std::size_t>(n * D));
            const auto over_chunks = [&](const auto& body) {
                lowdim::parallel_blocks(chunks, threads, stop, [&](std::int64_t c) {
                    body(c * points_a_chunk, std::min(n, (c + 1) * points_a_chunk), places.data() + c * slabs);
                });
            };
            over_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t* counts) {
                kernels.first_nodes(mesh, y.data(), begin, end, nodes.data());
                for (std::int64_t i = begin; i < end; ++i) ++counts[nodes[i]];
            });
            std::int64_t at = 0;
            for (std::int64_t s = 0; s < slabs; ++s) {
                starts[s] = at;
                for (std::int64_t c = 0; c < chunks; ++c) at += std::exchange(places[c * slabs + s], at);
            }
            starts[slabs] = at;
            over_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t* next) {
                for (std::int64_t i = begin; i < end; ++i) {
                    const std::int64_t to = next[nodes[i]]++;
                    for (int a = 0; a < D; ++a) sorted[to * D + a] = y.data()[i * D + a];
                }
            });
            const std::int64_t slab = static_cast<std::int64_t>(grid.size()) / slabs;
            lowdim::parallel_blocks((slabs + slabs_a_band - 1) / slabs_a_band, threads, stop, [&](std::int64_t band) {
                const std::int64_t low = band * slabs_a_band, high = std::min(slabs, low + slabs_a_band);
                std::fill(grid.data() + low * slab, grid.data() + high * slab, 0.0f);
                kernels.spread_masses(mesh, sorted.data(), starts[std::max<std::int64_t>(0, low - 3)], starts[high], low, high, grid.data());
            });
        });
    });
}

lowdim::MeshFields fields_of(const ConstGrid& fields, const std::vector<std::int64_t>& cells) {
    const std::size_t axes = cells.size();
    require(fields.ndim() == axes + 1 && fields.shape(0) == axes + 1, "there must be one field more than axes");
    for (std::size_t a = 0; a < axes; ++a)
        require(a + 1 == axes ? static_cast<std::int64_t>(fields.shape(a + 1)) >= cells[a]
                              : static_cast<std::int64_t>(fields.shape(a + 1)) == cells[a],
                "the fields must cover the mesh");
    return {fields.data(), static_cast<std::int64_t>(fields.size() / fields.shape(0)), static_cast<std::int64_t>(fields.shape(axes))};
}

double gather_forces(const ConstGrid& fields, const std::vector<std::int64_t>& cells, const Vector<const float>& origin, double spacing,
                     const Map& y, const Dense<float>& out, int threads) {
    require(cells.size() == y.shape(1) && out.shape(0) == y.shape(0) && out.shape(1) == y.shape(1), "out must have the shape of the map");
    const auto mesh = mesh_of(origin, spacing, cells);
    const auto values = fields_of(fields, cells);
    const auto n = static_cast<std::int64_t>(y.shape(0));
    std::vector<double> parts(static_cast<std::size_t>(lowdim::blocks_of(n)));
    run([&](lowdim::Stop& stop) {
        for_mesh_axes(y.shape(1), [&]<int D>() {
            lowdim::over_rows(n, threads, stop, [&](std::int64_t begin, std::int64_t end, std::int64_t block) {
                parts[block] = lowdim::kernels().tsne.mesh<D>().gather_forces(mesh, values, y.data(), begin, end, out.data());
            });
        });
    });
    return in_order(parts);
}

void multiply_spectra(const nb::ndarray<const std::complex<float>, nb::c_contig, nb::device::cpu>& density, const ConstGrid& spectra,
                      const nb::ndarray<std::complex<float>, nb::c_contig, nb::device::cpu>& out, int threads) {
    require(spectra.ndim() == density.ndim() + 1 && spectra.size() == spectra.shape(0) * density.size() && out.size() == spectra.size(),
            "spectra and out must have one field after another, each of the density's shape");
    const auto count = static_cast<std::int64_t>(density.size());
    constexpr std::int64_t stretch = 1 << 14;
    run([&](lowdim::Stop& stop) {
        lowdim::parallel_blocks((count + stretch - 1) / stretch, threads, stop, [&](std::int64_t block) {
            lowdim::kernels().tsne.multiply_spectra(reinterpret_cast<const float*>(density.data()), spectra.data(),
                                                    static_cast<int>(spectra.shape(0)), count, block * stretch,
                                                    std::min(count, (block + 1) * stretch), reinterpret_cast<float*>(out.data()));
        });
    });
}

void place_rows(const Starts& starts, const Columns& columns, const Values& values, const Map& y, const std::optional<ConstGrid>& fields,
                const std::vector<std::int64_t>& cells, const Vector<const float>& origin, double spacing, const nb::tuple& rule,
                const Dense<float>& places, int threads) {
    const auto edges = edges_of(starts, columns, values, places.shape(0));
    require(places.shape(1) == y.shape(1), "places must have the axes of the map");
    require_rows(columns.data(), columns.size(), y.shape(0), threads);
    lowdim::Mesh mesh = {};
    lowdim::MeshFields values_of_fields = {};
    if (fields) {
        require(cells.size() == y.shape(1), "the mesh must have the axes of the map");
        mesh = mesh_of(origin, spacing, cells);
        values_of_fields = fields_of(*fields, cells);
    }
    require(rule.size() == 8, "a rule has eight numbers");
    const auto number = [&](int i) { return static_cast<float>(nb::cast<double>(rule[i])); };
    lowdim::FrozenMap map = {y.data(), nullptr,   static_cast<std::int64_t>(y.shape(0)), number(0), number(1), number(2),
                             number(3), number(4), nb::cast<int>(rule[5]), {}};
    const float opening = number(6), grain = number(7);
    require(opening == 0 || (y.shape(1) == 3 && y.shape(0) >= 1), "a tree is for maps of three axes");
    run([&](lowdim::Stop& stop) {
        const auto axes = axis_by_axis(y);
        map.axes = axes.data();
        std::optional<lowdim::Octree> tree;
        std::optional<TreeRooms> rooms;
        if (opening > 0) {
            tree.emplace(y.data(), map.n, threads, stop);
            rooms.emplace(*tree, threads);
            map.tree = tree->view(opening, grain);
        }
        constexpr std::int64_t few = 16;
        const auto m = static_cast<std::int64_t>(places.shape(0));
        for_axes(y.shape(1), [&]<int D>() {
            lowdim::parallel_blocks((m + few - 1) / few, threads, stop, [&](std::int64_t block) {
                const auto room = rooms ? rooms->mine() : lowdim::TreeScratch{};
                lowdim::kernels().tsne.on<D>().place_rows(map, mesh, values_of_fields, edges, room, block * few,
                                                          std::min(m, (block + 1) * few), places.data());
            });
        });
    });
}

}  // namespace

void bind_tsne(nb::module_& m) {
    m.def("calibrate", &calibrate, "distances"_a.noconvert(), "perplexity"_a, "out"_a.noconvert(), "threads"_a,
          "Gaussian weights of every row, summing to one, with the perplexity asked for.");
    m.def("join_affinities", &join_affinities, "indices"_a.noconvert(), "weights"_a.noconvert(), "scale"_a, "threads"_a,
          "scale (A + A.T) in compressed sparse rows, for A with `weights` at `indices`.");
    m.def("require_edges", &require_edges, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "rows"_a,
          "threads"_a, "Raises unless these are compressed sparse rows of a square matrix.");
    m.def("reorder_edges", &reorder_edges, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "order"_a.noconvert(), "new_starts"_a.noconvert(), "new_columns"_a.noconvert(), "new_values"_a.noconvert(), "threads"_a,
          "Rows and columns in another order: new row r is old row order[r].");
    m.def("descend", &descend, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "repulsion"_a.noconvert(), "rule"_a, "velocity"_a.noconvert(), "gains"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "One step of t-SNE's descent, centred.\n\n"
          "rule: exaggeration, rate, momentum, longest step, 1 / sum, 1 / dof, factor of the gradient.");
    m.def("log_lengths", &log_lengths, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "dof"_a, "threads"_a, "Sum of value * log(1 + d**2 / dof) over all entries.");
    m.def("repel_directly", &repel_directly, "y"_a.noconvert(), "dof"_a, "out"_a.noconvert(), "threads"_a,
          "Repulsion by the sum over all pairs into `out`; returns the sum of the kernel over all pairs.");
    m.def("repel_by_tree", &repel_by_tree, "y"_a.noconvert(), "dof"_a, "opening"_a, "grain"_a, "out"_a.noconvert(), "threads"_a,
          "Repulsion in three axes by an octree into `out`; returns the sum of the kernel over all pairs.\n\n"
          "A node acts as one where its square side is at most opening * distance**2 + grain.");
    m.def("spread_masses", &spread_masses, "y"_a.noconvert(), "origin"_a.noconvert(), "spacing"_a, "grid"_a.noconvert(), "threads"_a,
          "Unit masses at the rows of y onto a mesh, by cubic B-splines.");
    m.def("gather_forces", &gather_forces, "fields"_a.noconvert(), "cells"_a, "origin"_a.noconvert(), "spacing"_a, "y"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "Forces at the rows of y off a mesh into `out`; returns the sum of the first field.");
    m.def("multiply_spectra", &multiply_spectra, "density"_a.noconvert(), "spectra"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "The density's spectrum times each kernel's: the first real, the others i times real.");
    m.def("place_rows", &place_rows, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "fields"_a.none(), "cells"_a, "origin"_a.noconvert(), "spacing"_a, "rule"_a, "places"_a.noconvert(), "threads"_a,
          "Move `places` on the frozen map y.\n\nrule: dof, 1 / mean sum, rate, momentum, longest step, steps, opening and grain of the tree (0: none).");
}
