// The pass over whitened rows, shared among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// moments (sources, columns) = Σ w ψ(y) zᵀ and sums (sources, 3) = Σ w ψ', Σ w ψ' y², Σ w ρ. The blocks of rows form groups that
// do not depend on the number of threads; the sums of the groups are added in order.
template <class T>
void ica_pass(const IcaPass<T>& pass, int contrast, double* moments, double* sums, const ThreadTeam& team) {
    const auto kernel = kernels().ica.of<T>().block[contrast];
    const std::int64_t size = ica_block_rows(pass.columns, sizeof(T)), blocks = block_count(pass.n, size);
    const std::int64_t moment_count = pass.sources * pass.columns, length = moment_count + pass.sources * ica_sums;
    const std::int64_t groups =
        std::min(blocks, std::clamp<std::int64_t>((std::int64_t{1} << 21) / std::max<std::int64_t>(length, 1), 8, 64));
    std::vector<double> parts(static_cast<std::size_t>(groups * length), 0.0);
    parallel_blocks(groups, team, [&](std::int64_t group) {
        std::vector<T> scratch(static_cast<std::size_t>(ica_scratch(pass.columns, sizeof(T))));
        double* part = parts.data() + group * length;
        for (std::int64_t block = group * blocks / groups; block < (group + 1) * blocks / groups && !team.stopped(); ++block) {
            if (thread_index() == 0) team.stop->poll();
            kernel(pass, block * size, std::min(pass.n, (block + 1) * size), scratch.data(), part, part + moment_count);
        }
    });
    std::fill(moments, moments + moment_count, 0.0);
    std::fill(sums, sums + pass.sources * ica_sums, 0.0);
    for (std::int64_t group = 0; group < groups; ++group) {
        const double* part = parts.data() + group * length;
        for (std::int64_t e = 0; e < moment_count; ++e) moments[e] += part[e];
        for (std::int64_t e = moment_count; e < length; ++e) sums[e - moment_count] += part[e];
    }
}

}  // namespace lowdim
