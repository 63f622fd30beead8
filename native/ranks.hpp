// Pairs held by the rank of their distances: the order is checked once, so that no pass over it must.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace lowdim {

// What belongs to the pairs stands by buckets of neighbouring ranks, in the order of the triangle within each: a pass
// over the triangle then writes a few streams, and a pass over the ranks stays within a bucket, where a plain sorted
// table would be met at random.
class Ranking {
  public:
    static constexpr int bucket_bits = 13;  // ranks whose values fit the first cache

    // order[r] is the pair of rank r.
    Ranking(const std::int32_t* order, std::int64_t count)
        : slots_(static_cast<std::size_t>(count)), places_(static_cast<std::size_t>(count)) {
        constexpr std::int32_t none = -1;
        std::fill(slots_.begin(), slots_.end(), none);
        for (std::int64_t rank = 0; rank < count; ++rank) {
            const std::int32_t pair = order[rank];
            if (pair < 0 || pair >= count || slots_[static_cast<std::size_t>(pair)] != none)
                throw std::invalid_argument("order must name every pair once");
            slots_[static_cast<std::size_t>(pair)] = static_cast<std::int32_t>(rank >> bucket_bits);
        }
        std::vector<std::int32_t> next(static_cast<std::size_t>((count >> bucket_bits) + 1));
        for (std::size_t bucket = 0; bucket < next.size(); ++bucket) next[bucket] = static_cast<std::int32_t>(bucket << bucket_bits);
        for (std::int32_t& slot : slots_) slot = next[static_cast<std::size_t>(slot)]++;
        for (std::int64_t rank = 0; rank < count; ++rank)
            places_[static_cast<std::size_t>(rank)] = slots_[static_cast<std::size_t>(order[rank])];
    }

    std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
    const std::int32_t* slots() const { return slots_.data(); }    // where a pair stands
    const std::int32_t* places() const { return places_.data(); }  // where a rank stands

    // Ties may trade their ranks; what is done to the places must only permute them.
    std::int32_t* places() { return places_.data(); }

  private:
    std::vector<std::int32_t> slots_, places_;
};

}  // namespace lowdim
