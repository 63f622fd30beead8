// The epochs of UMAP's optimizer: rounds in which all rows take half a step at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/philox.hpp"
#include "core/rounds.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// The rounds of an epoch: one that samples the edges, then one per half step, alternately from one buffer to the other. A
// final round copies what moved in the half step before, so that both buffers agree again.
class EpochRounds {
  public:
    EpochRounds(UmapStep& step, std::int64_t rows, float* positions, bool fixed)
        : step_(step), rows_(rows), fixed_(fixed), positions_(positions) {
        if (!fixed) second_.assign(positions, positions + rows * step.dims);
        max_samples_.resize(static_cast<std::size_t>(tasks()));
    }

    std::int64_t tasks() const { return block_count(rows_, rows_per_task); }
    bool scheduling() const { return scheduling_; }
    std::int64_t first(std::int64_t task) const { return task * rows_per_task; }
    std::int64_t last(std::int64_t task) const { return std::min(rows_, first(task) + rows_per_task); }

    // Orders the rows of a task by their samples, most first (a counting sort): rows of one vector then finish together.
    void scheduled(std::int64_t task) {
        const std::int64_t from = first(task), to = last(task);
        const std::int32_t most = *std::max_element(step_.samples + from, step_.samples + to);
        max_samples_[static_cast<std::size_t>(task)] = most;
        std::vector<std::int64_t> places(static_cast<std::size_t>(most) + 2, from);
        for (std::int64_t i = from; i < to; ++i) ++places[static_cast<std::size_t>(most - step_.samples[i]) + 1];
        for (std::size_t less = 1; less < places.size(); ++less) places[less] += places[less - 1] - from;
        for (std::int64_t i = from; i < to; ++i) {
            const std::int64_t place = places[static_cast<std::size_t>(most - step_.samples[i])]++;
            step_.row_order[place] = static_cast<std::int32_t>(i);
            step_.ordered_samples[place] = step_.samples[i];
            step_.ordered_starts[place] = static_cast<std::int32_t>(step_.starts[i]);
        }
    }

    void begin_epoch() {
        scheduling_ = true;
        step_.half_step = -1;
    }

    // Prepares the next round; false when the epoch is over.
    bool next() {
        if (scheduling_) {
            scheduling_ = false;
            for (std::size_t task = max_samples_.size(); task-- > 1;)
                max_samples_[task - 1] = std::max(max_samples_[task - 1], max_samples_[task]);
            active_ = tasks();
        } else if (fixed_) {
            return false;
        }
        ++step_.half_step;
        if (fixed_) {
            step_.head_positions = step_.out = positions_;
            return true;
        }
        const bool even = step_.half_step % 2 == 0;
        step_.head_positions = step_.tail_positions = even ? positions_ : second_.data();
        step_.out = even ? second_.data() : positions_;
        while (active_ > 0 && step_.half_step > 2 * max_samples_[static_cast<std::size_t>(active_ - 1)]) --active_;
        return active_ > 0;
    }

    std::int64_t active_tasks() const { return scheduling_ || fixed_ ? tasks() : active_; }

  private:
    static constexpr std::int64_t rows_per_task = 512;

    UmapStep& step_;
    std::int64_t rows_, active_ = 0;
    bool fixed_, scheduling_ = true;
    float* positions_;
    std::vector<float> second_;
    std::vector<std::int32_t> max_samples_;  // the largest number of samples of a row in this task or a later one
};

// Epochs first … last of `total`; the learning rate decreases linearly.
struct EpochRange {
    std::int64_t first, last, total;
    float alpha;
    std::uint64_t seed;
};

// Moves the rows in place: among themselves, or against the fixed `step.tail_positions`. Fills in what a round needs.
inline void umap_epochs(UmapStep step, std::int64_t rows, float* positions, const EpochRange& epochs, const ThreadTeam& team) {
    const auto& kernel = kernels().umap;
    const bool fixed = step.tail_positions != nullptr;
    const auto edges = static_cast<std::size_t>(step.starts[rows]), padded = static_cast<std::size_t>(rows + kernel.row_lanes);
    std::vector<std::int32_t> samples(static_cast<std::size_t>(rows)), row_order(padded), ordered_samples(padded), ordered_starts(padded);
    // One extra entry, read by idle lanes. Not initialized: an epoch touches only little of it.
    const auto sampled_tails = std::make_unique_for_overwrite<std::int32_t[]>(edges + 1);
    const auto sampled_inverse_weights = std::make_unique_for_overwrite<float[]>(step.density == nullptr ? 1 : edges + 1);
    sampled_tails[0] = 0, sampled_inverse_weights[0] = 0;
    step.samples = samples.data(), step.row_order = row_order.data();
    step.ordered_samples = ordered_samples.data(), step.ordered_starts = ordered_starts.data();
    step.sampled_tails = sampled_tails.get(), step.sampled_inverse_weights = sampled_inverse_weights.get();
    EpochRounds rounds(step, rows, positions, fixed);
    const int threads = static_cast<int>(std::min<std::int64_t>(rounds.tasks(), team.threads));
    struct alignas(64) Line {
        float value[16];
    };
    const std::size_t lines = (static_cast<std::size_t>(3 * step.dims * kernel.row_lanes) + 15) / 16;
    std::vector<Line> stores(lines * static_cast<std::size_t>(threads));
    const std::size_t variant = step.dims <= 3 ? static_cast<std::size_t>(step.dims) : 0;
    std::int64_t epoch = epochs.first - 1;
    const auto next_round = [&]() -> std::int64_t {
        if (epoch < epochs.first || !rounds.next()) {
            if (++epoch >= epochs.last) return 0;
            step.alpha = epochs.alpha * (1.0f - static_cast<float>(epoch) / static_cast<float>(epochs.total));
            step.epoch_number = static_cast<std::uint32_t>(epoch + 1);
            step.key = draw(epochs.seed, 0x756d6170u, static_cast<std::uint64_t>(epoch))[0];
            rounds.begin_epoch();
        }
        return rounds.active_tasks();
    };
    const auto work = [&](std::int64_t task, int thread) {
        const std::int64_t from = rounds.first(task), to = rounds.last(task);
        float* store = stores[static_cast<std::size_t>(thread) * lines].value;
        if (rounds.scheduling()) {
            kernel.schedule(step, from, to);
            rounds.scheduled(task);
        } else if (fixed) {
            kernel.fixed[variant](step, from, to, store);
        } else {
            kernel.half_step[variant](step, from, to, store);
        }
    };
    run_rounds({threads, team.stop}, work, next_round);
}

}  // namespace lowdim
