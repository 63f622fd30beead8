// The epochs of UMAP's optimizer: blocks of rows move one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/philox.hpp"
#include "core/rounds.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Rows are distributed among threads in tasks of so many: whole groups of lanes, and whole blocks of negative samples.
constexpr std::int64_t umap_rows_per_task = 128;

// Blocks of rows that move one after another, and samples that a row takes in one turn. With fewer blocks, rows follow neighbors that
// have left already, and trustworthiness is lower; with more samples, a curved sheet is torn into more pieces.
constexpr std::int64_t umap_blocks = 32;
constexpr std::int32_t umap_samples_per_turn = 2;

// The samples of an epoch, in the order in which the rows take them.
class EpochSamples {
  public:
    EpochSamples(UmapStep& step, std::int64_t rows, int threads)
        : step_(step), lanes_(kernels().umap.row_lanes), rows_(rows), most_(static_cast<std::size_t>(tasks())) {
        std::int64_t edges = 0, most_edges = 0;
        for (std::int64_t task = 0; task < tasks(); ++task) {
            task_starts_.push_back(edges);
            std::int64_t longest = 0;
            for (std::int64_t i = first(task); i < last(task); ++i) longest = std::max(longest, step.starts[i + 1] - step.starts[i]);
            const std::int64_t here = step.starts[last(task)] - step.starts[first(task)];
            most_edges = std::max(most_edges, here);
            edges += here + longest * lanes_;  // lanes idle in one group at most, if its rows are followed by those with fewer samples
        }
        const auto padded = static_cast<std::size_t>(rows + lanes_);
        order_.resize(padded), samples_.resize(padded), group_starts_.resize(padded / static_cast<std::size_t>(lanes_) + 1);
        // Not initialized: an epoch touches only little of it.
        tails_ = std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(edges));
        if (step.density != nullptr) inverse_weights_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(edges));
        step.row_order = order_.data(), step.samples = samples_.data(), step.group_starts = group_starts_.data();
        step.sampled_tails = tails_.get(), step.sampled_inverse_weights = inverse_weights_.get();
        for (int thread = 0; thread < threads; ++thread) scratch_.emplace_back(most_edges + 1, step.density != nullptr);
    }

    std::int64_t tasks() const { return block_count(rows_, umap_rows_per_task); }
    std::int64_t first(std::int64_t task) const { return task * umap_rows_per_task; }
    std::int64_t last(std::int64_t task) const { return std::min(rows_, first(task) + umap_rows_per_task); }

    // The largest number of samples of a row of this task.
    std::int32_t most(std::int64_t task) const { return most_[static_cast<std::size_t>(task)]; }

    // Samples the edges of a task's rows, and orders the rows by their number: rows of one vector then finish together.
    void draw(std::int64_t task, int thread) {
        Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
        kernels().umap.sample(step_, first(task), last(task), {scratch.counts.data(), scratch.tails.data(), scratch.inverse_weights.data()});
        order_rows(task, scratch);
        std::int64_t at = task_starts_[static_cast<std::size_t>(task)];
        for (std::int64_t i = first(task); i < last(task); i += lanes_) {
            step_.group_starts[i / lanes_] = at;
            const int here = static_cast<int>(std::min<std::int64_t>(lanes_, last(task) - i));
            const std::int32_t most = step_.samples[i];
            for (int lane = 0; lane < lanes_; ++lane) {
                const std::int32_t count = lane < here ? step_.samples[i + lane] : 0;
                const std::int64_t from = lane < here ? scratch.starts[static_cast<std::size_t>(step_.row_order[i + lane] - first(task))] : 0;
                spread(scratch.tails.data() + from, count, most, step_.sampled_tails + at + lane);
                if (step_.density != nullptr)
                    spread(scratch.inverse_weights.data() + from, count, most, step_.sampled_inverse_weights + at + lane);
            }
            at += std::int64_t{most} * lanes_;
        }
    }

  private:
    // What one thread samples, before it is ordered.
    struct Scratch {
        std::vector<std::int32_t> counts, starts, tails;
        std::vector<float> inverse_weights;

        Scratch(std::int64_t edges, bool density)
            : counts(umap_rows_per_task),
              starts(umap_rows_per_task),
              tails(static_cast<std::size_t>(edges)),
              inverse_weights(density ? static_cast<std::size_t>(edges) : 0) {}
    };

    // A counting sort, most samples first.
    void order_rows(std::int64_t task, Scratch& scratch) {
        const std::int64_t from = first(task), rows = last(task) - from;
        const std::int32_t most = *std::max_element(scratch.counts.begin(), scratch.counts.begin() + rows);
        most_[static_cast<std::size_t>(task)] = most;
        std::vector<std::int64_t> places(static_cast<std::size_t>(most) + 2, from);
        for (std::int64_t i = 0; i < rows; ++i) ++places[static_cast<std::size_t>(most - scratch.counts[static_cast<std::size_t>(i)]) + 1];
        for (std::size_t less = 1; less < places.size(); ++less) places[less] += places[less - 1] - from;
        std::int32_t taken = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int32_t count = scratch.counts[static_cast<std::size_t>(i)];
            const std::int64_t place = places[static_cast<std::size_t>(most - count)]++;
            step_.row_order[place] = static_cast<std::int32_t>(from + i);
            step_.samples[place] = count;
            scratch.starts[static_cast<std::size_t>(i)] = taken;
            taken += count;
        }
    }

    // Copies `count` values to one lane, of which there are `most`; a lane that idles reads row 0.
    template <class T>
    void spread(const T* from, std::int32_t count, std::int32_t most, T* to) const {
        for (std::int32_t s = 0; s < count; ++s) to[s * lanes_] = from[s];
        for (std::int32_t s = count; s < most; ++s) to[s * lanes_] = T{};
    }

    UmapStep& step_;
    int lanes_;
    std::int64_t rows_;
    std::vector<std::int32_t> most_, order_, samples_;
    std::vector<std::int64_t> task_starts_, group_starts_;
    std::unique_ptr<std::int32_t[]> tails_;
    std::unique_ptr<float[]> inverse_weights_;
    std::vector<Scratch> scratch_;
};

// The rounds of an epoch: one that samples the edges, then turns of blocks of rows. In its turn, each row of a block takes a few of
// its samples, one after another; the others see where it went when the turn is over. When all blocks have had their turn, each
// has a second one, in which the same samples attract their heads once more, in the role of the tail. A block is a small share of
// the rows, so that few edges have both ends in it, which would not see each other move.
class EpochRounds {
  public:
    EpochRounds(UmapStep& step, const EpochSamples& samples, std::int64_t rows, float* positions, bool fixed)
        : step_(step),
          samples_(samples),
          rows_(rows),
          tasks_per_block_(fixed ? samples.tasks() : block_count(samples.tasks(), umap_blocks)),
          samples_per_turn_(fixed ? std::numeric_limits<std::int32_t>::max() / 2 : umap_samples_per_turn),
          fixed_(fixed),
          positions_(positions) {
        most_samples_.resize(static_cast<std::size_t>(samples.tasks()));
        step.head_positions = step.out = positions;
        if (fixed) return;
        seen_.assign(positions, positions + rows * step.dims);
        seen_.resize(static_cast<std::size_t>((rows + negative_block) * step.dims));
        repeat_first_rows();
        step.head_positions = step.tail_positions = seen_.data();
    }

    bool sampling() const { return sampling_; }

    void begin_epoch() { sampling_ = true; }

    // Prepares the next round; false when the epoch is over.
    bool next() {
        if (sampling_) {
            sampling_ = false;
            std::int32_t most = 0;
            for (std::int64_t task = samples_.tasks(); task-- > 0;)
                most_samples_[static_cast<std::size_t>(task)] = most = std::max(most, samples_.most(task));
            active_ = samples_.tasks();
            step_.last_sample = 0;
            begin_first_turns();
        } else {
            if (!fixed_) show_block();
            if (++block_ == blocks_) begin_turns();
        }
        return active_ > 0;
    }

    std::int64_t active_tasks() const { return sampling_ ? samples_.tasks() : block_count(active_ - block_, blocks_); }

    // Those of a block lie far apart: the order of the rows is by the number of samples, and a block has some of all.
    std::int64_t task(std::int64_t k) const { return sampling_ ? k : block_ + k * blocks_; }

  private:
    // The second turns after the first, then the first ones with the next samples.
    void begin_turns() {
        if (!step_.repels || fixed_) return begin_first_turns();
        step_.repels = false;
        block_ = 0;
    }

    void begin_first_turns() {
        step_.first_sample = step_.last_sample;
        step_.last_sample += samples_per_turn_;
        step_.repels = true;
        while (active_ > 0 && most_samples_[static_cast<std::size_t>(active_ - 1)] <= step_.first_sample) --active_;
        blocks_ = block_count(active_, tasks_per_block_);
        block_ = 0;
    }

    void show_block() {
        for (std::int64_t task = block_; task < active_; task += blocks_) {
            const std::int64_t from = samples_.first(task) * step_.dims;
            std::copy(positions_ + from, positions_ + samples_.last(task) * step_.dims, seen_.begin() + from);
        }
        if (block_ == 0) repeat_first_rows();  // they are in the first task, which is never idle
    }

    // Behind the last row.
    void repeat_first_rows() {
        const std::int64_t size = rows_ * step_.dims;
        for (std::int64_t i = 0; i < negative_block * step_.dims; ++i) seen_[static_cast<std::size_t>(size + i)] = seen_[static_cast<std::size_t>(i % size)];
    }

    UmapStep& step_;
    const EpochSamples& samples_;
    std::int64_t rows_, tasks_per_block_, active_ = 0, blocks_ = 0, block_ = 0;
    std::int32_t samples_per_turn_;
    bool fixed_, sampling_ = true;
    float* positions_;                        // where rows are moved
    std::vector<float> seen_;                 // where all rows see them
    std::vector<std::int32_t> most_samples_;  // the largest number of samples of a row in this task or a later one
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
    const std::int64_t tasks = block_count(rows, umap_rows_per_task);  // no more threads than tasks in a turn
    const int threads = static_cast<int>(std::min<std::int64_t>(fixed ? tasks : block_count(tasks, umap_blocks), team.threads));
    EpochSamples samples(step, rows, threads);
    EpochRounds rounds(step, samples, rows, positions, fixed);
    struct alignas(64) Line {
        float value[16];
    };
    const std::size_t lines = (static_cast<std::size_t>(3 * step.dims * kernel.row_lanes) + 15) / 16;
    std::vector<Line> stores(lines * static_cast<std::size_t>(threads));
    const std::size_t variant = umap_variant(step);
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
    const auto work = [&](std::int64_t k, int thread) {
        const std::int64_t task = rounds.task(k);
        float* store = stores[static_cast<std::size_t>(thread) * lines].value;
        if (rounds.sampling()) {
            samples.draw(task, thread);
        } else {
            kernel.move[variant](step, samples.first(task), samples.last(task), store);
        }
    };
    run_rounds({threads, team.stop}, work, next_round);
}

}  // namespace lowdim
