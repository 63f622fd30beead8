// The epochs of UMAP's layout, shared out: rounds in which all rows take half a turn at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/philox.hpp"
#include "core/rounds.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// The rounds of the layout: for every epoch one that lists the turns, then one for every half of a turn, by turns from
// the map to its twin and back. A last one brings over what moved in the half before, so that both agree again.
class UmapRounds {
  public:
    UmapRounds(UmapStep& step, std::int64_t rows, float* map, bool beside) : step_(step), rows_(rows), beside_(beside), map_(map) {
        if (!beside) twin_.assign(map, map + rows * step.dims);
        most_.resize(static_cast<std::size_t>(tasks()));
    }

    std::int64_t tasks() const { return blocks_of(rows_, rows_a_task); }
    bool listing() const { return listing_; }
    std::int64_t first(std::int64_t task) const { return task * rows_a_task; }
    std::int64_t last(std::int64_t task) const { return std::min(rows_, first(task) + rows_a_task); }

    void listed(std::int64_t task) {
        most_[static_cast<std::size_t>(task)] = *std::max_element(step_.turns + first(task), step_.turns + last(task));
    }

    void begin_epoch() {
        listing_ = true;
        step_.half = -1;
    }

    // Prepares the round after this one; false when the epoch is over.
    bool next() {
        if (listing_) {
            listing_ = false;
            for (std::size_t task = most_.size(); task-- > 1;) most_[task - 1] = std::max(most_[task - 1], most_[task]);
            awake_ = tasks();
        } else if (beside_) {
            return false;
        }
        ++step_.half;
        if (beside_) {
            step_.heads = step_.out = map_;
            return true;
        }
        const bool even = step_.half % 2 == 0;
        step_.heads = step_.others = even ? map_ : twin_.data();
        step_.out = even ? twin_.data() : map_;
        while (awake_ > 0 && step_.half > 2 * most_[static_cast<std::size_t>(awake_ - 1)]) --awake_;
        return awake_ > 0;
    }

    std::int64_t awake() const { return listing_ || beside_ ? tasks() : awake_; }

  private:
    static constexpr std::int64_t rows_a_task = 512;

    UmapStep& step_;
    std::int64_t rows_, awake_ = 0;
    bool beside_, listing_ = true;
    float* map_;
    std::vector<float> twin_;
    std::vector<std::int32_t> most_;  // turns of a row of this task, or of one behind it
};

// Epochs first … last of `total`, in which the rows move less and less.
struct UmapEpochs {
    std::int64_t first, last, total;
    float alpha;
    std::uint64_t seed;
};

// Moves the rows of a map where they are: among themselves, or beside `step.others`. What a round needs is filled in here.
inline void umap_epochs(UmapStep step, std::int64_t rows, float* map, const UmapEpochs& epochs, const Crew& crew) {
    const auto& kernel = kernels().umap;
    const bool beside = step.others != nullptr;
    const auto edges = static_cast<std::size_t>(step.starts[rows]), padded = static_cast<std::size_t>(rows + kernel.owners);
    std::vector<std::int32_t> turns(padded), firsts(padded);
    for (std::int64_t i = 0; i < rows; ++i) firsts[i] = static_cast<std::int32_t>(step.starts[i]);
    // One more than there are: a lane without a turn reads the first. Not filled: an epoch touches little of it.
    const auto turn_tails = std::make_unique_for_overwrite<std::int32_t[]>(edges + 1);
    const auto turn_inverse = std::make_unique_for_overwrite<float[]>(step.crowding == nullptr ? 1 : edges + 1);
    turn_tails[0] = 0, turn_inverse[0] = 0;
    step.firsts = firsts.data(), step.turns = turns.data(), step.turn_tails = turn_tails.get(), step.turn_inverse = turn_inverse.get();
    UmapRounds rounds(step, rows, map, beside);
    const int threads = static_cast<int>(std::min<std::int64_t>(rounds.tasks(), crew.threads));
    struct alignas(64) Line {
        float value[16];
    };
    const std::size_t lines = (static_cast<std::size_t>(3 * step.dims * kernel.owners) + 15) / 16;
    std::vector<Line> stores(lines * static_cast<std::size_t>(threads));
    const std::size_t way = step.dims <= 3 ? static_cast<std::size_t>(step.dims) : 0;
    std::int64_t epoch = epochs.first - 1;
    const auto next_round = [&]() -> std::int64_t {
        if (epoch < epochs.first || !rounds.next()) {
            if (++epoch >= epochs.last) return 0;
            step.alpha = epochs.alpha * (1.0f - static_cast<float>(epoch) / static_cast<float>(epochs.total));
            step.tick = static_cast<std::uint32_t>(epoch + 1);
            step.key = draw(epochs.seed, 0x756d6170u, static_cast<std::uint64_t>(epoch))[0];
            rounds.begin_epoch();
        }
        return rounds.awake();
    };
    const auto take = [&](std::int64_t task, int thread) {
        const std::int64_t from = rounds.first(task), to = rounds.last(task);
        float* store = stores[static_cast<std::size_t>(thread) * lines].value;
        if (rounds.listing()) {
            kernel.turns(step, from, to);
            rounds.listed(task);
        } else if (beside) {
            kernel.beside[way](step, from, to, store);
        } else {
            kernel.half[way](step, from, to, store);
        }
    };
    run_rounds({threads, crew.stop}, take, next_round);
}

}  // namespace lowdim
