// Out-of-sample points of MDS: new points among fixed ones, by majorization.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Embeds every row of `targets` (m, n) among the n fixed points; converged[i] tells whether it converged.
template <class T>
void mds_out_of_sample(const PairTable<T>& fixed, std::int64_t rows, std::int64_t max_steps, double tol, double* positions,
                       std::uint8_t* converged, const ThreadTeam& team) {
    parallel_blocks(rows, team, [&](std::int64_t i) {
        std::vector<double> scratch(static_cast<std::size_t>(2 * fixed.k));
        PairTable<T> own = fixed;
        own.targets += i * fixed.n;
        if (own.weights != nullptr) own.weights += i * fixed.n;
        converged[i] = kernels().mds.of<T>().majorize_point(own, max_steps, tol, scratch.data(), positions + i * fixed.k);
    });
}

}  // namespace lowdim
