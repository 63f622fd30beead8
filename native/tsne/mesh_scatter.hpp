// Scatters the points of an embedding to a mesh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/counting_sort.hpp"
#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Scatters y (n, D) to the grid. Points are sorted by slab, in chunks that do not depend on the threads, so that a band of
// slabs is filled by one thread in a fixed order.
template <int D>
void scatter_to_mesh(const Mesh& mesh, const float* y, std::int64_t n, float* grid, const ThreadTeam& team) {
    constexpr std::int64_t points_per_chunk = 1 << 14, slabs_per_band = 16;
    const auto& kernel = kernels().tsne.mesh<D>();
    const std::int64_t slabs = mesh.cells[0], slab = D > 1 ? mesh.cells[1] : 1;
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(n));
    std::vector<std::int64_t> next(static_cast<std::size_t>(block_count(n, points_per_chunk) * slabs)),
        starts(static_cast<std::size_t>(slabs + 1));
    std::vector<float> sorted(static_cast<std::size_t>(n * D));
    const auto of_chunk = [&](std::int64_t begin) { return next.data() + begin / points_per_chunk * slabs; };
    parallel_ranges(n, points_per_chunk, team, [&](std::int64_t begin, std::int64_t end) {
        kernel.first_nodes(mesh, y, begin, end, nodes.data());
        std::int64_t* counts = of_chunk(begin);
        for (std::int64_t i = begin; i < end; ++i) ++counts[nodes[i]];
    });
    if (team.stopped()) return;
    offsets_from_counts(next, starts);
    parallel_ranges(n, points_per_chunk, team, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t* offsets = of_chunk(begin);
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t to = offsets[nodes[i]]++;
            for (int a = 0; a < D; ++a) sorted[to * D + a] = y[i * D + a];
        }
    });
    parallel_ranges(slabs, slabs_per_band, team, [&](std::int64_t low, std::int64_t high) {
        std::fill(grid + low * slab, grid + high * slab, 0.0f);
        kernel.scatter_to_mesh(mesh, sorted.data(), starts[std::max<std::int64_t>(0, low - 3)], starts[high], low, high, grid);
    });
}

}  // namespace lowdim
