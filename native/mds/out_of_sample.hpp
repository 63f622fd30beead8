// New points among fixed ones, by majorisation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Every row of `targets` (m, n) finds its place among the n fixed points; settled[i] says whether it came to rest.
template <class T>
void place_rows(const PairTable<T>& fixed, std::int64_t rows, std::int64_t most, double tol, double* places, std::uint8_t* settled,
                const Crew& crew) {
    parallel_blocks(rows, crew, [&](std::int64_t i) {
        std::vector<double> scratch(static_cast<std::size_t>(2 * fixed.k));
        PairTable<T> own = fixed;
        own.targets += i * fixed.n;
        if (own.weights != nullptr) own.weights += i * fixed.n;
        settled[i] = kernels().smacof.of<T>().place(own, most, tol, scratch.data(), places + i * fixed.k);
    });
}

}  // namespace lowdim
