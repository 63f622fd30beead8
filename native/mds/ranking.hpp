// Pairs in the order of their dissimilarities: the order is checked once, so that no pass has to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "mds/passes.hpp"

namespace lowdim {

// Values of pairs are stored in buckets of adjacent ranks, and in tile order within each. A pass over the tiles then reads a
// few streams, and a pass over the ranks stays within a bucket, whereas a plain sorted array would be accessed at random.
class Ranking {
  public:
    // Few enough streams for the L1 TLB at some thousand rows, and values that fit the L2 cache. An odd number of cache lines:
    // with a power of two, all streams would compete for the same few cache sets.
    static constexpr std::int64_t bucket_size = 2049 * 16;

    // order[r] is the pair of rank r, of the pairs of n points.
    Ranking(const std::int32_t* order, std::int64_t n) : n_(n), slots_(pairs_of(n)), positions_(pairs_of(n)) {
        constexpr std::int32_t none = -1;
        std::vector<std::int32_t> buckets(slots_.size(), none), next;  // by pair: its bucket, then its slot
        for (std::int64_t rank = 0; rank < count(); ++rank) {
            const std::int32_t pair = order[rank];
            if (pair < 0 || pair >= count() || buckets[static_cast<std::size_t>(pair)] != none)
                throw std::invalid_argument("order must name every pair once");
            buckets[static_cast<std::size_t>(pair)] = static_cast<std::int32_t>(rank / bucket_size);
            if (rank % bucket_size == 0) next.push_back(static_cast<std::int32_t>(rank));
        }
        for_each_pair([&](std::size_t at, std::size_t pair) {
            slots_[at] = next[static_cast<std::size_t>(buckets[pair])]++;
            buckets[pair] = slots_[at];
        });
        for (std::size_t rank = 0; rank < positions_.size(); ++rank) positions_[rank] = buckets[static_cast<std::size_t>(order[rank])];
    }

    std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
    const std::int32_t* slots() const { return slots_.data(); }          // storage position of each pair, tile by tile
    const std::int32_t* positions() const { return positions_.data(); }  // storage position of each rank

    // The storage position of each pair, in the order of the triangle.
    std::vector<std::int32_t> slots_by_pair() const {
        std::vector<std::int32_t> out(slots_.size());
        for_each_pair([&](std::size_t at, std::size_t pair) { out[pair] = slots_[at]; });
        return out;
    }

    // Ties may exchange ranks; the caller must only permute the positions.
    std::int32_t* positions() { return positions_.data(); }

  private:
    // Calls visit(number, pair) for all pairs, tile by tile.
    template <class Visit>
    void for_each_pair(const Visit& visit) const {
        std::size_t at = 0;
        for (const PairTile& tile : tiles_of(n_))
            for (std::int64_t i = tile.row_begin; i < tile.row_end; ++i)
                for (std::int64_t j = std::max(tile.column_begin, i + 1); j < tile.column_end; ++j)
                    visit(at++, static_cast<std::size_t>(pair_index(i, j, n_)));
    }

    std::int64_t n_;
    std::vector<std::int32_t> slots_, positions_;
};

}  // namespace lowdim
