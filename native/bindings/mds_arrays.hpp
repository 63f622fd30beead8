// What the bindings of MDS share: condensed triangles and rankings of pairs.
#pragma once

#include <cstddef>

#include "bindings/run.hpp"
#include "mds/ranking.hpp"

inline std::size_t pairs_of(std::size_t n) { return lowdim::pairs_of(static_cast<std::int64_t>(n)); }

inline void require_length(const lowdim::Ranking* ranking, std::size_t count) {
    require(ranking == nullptr || static_cast<std::size_t>(ranking->count()) == count, "the ranking must have as many pairs");
}
