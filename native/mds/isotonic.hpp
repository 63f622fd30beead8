// Isotonic regression by pooling adjacent violators (PAVA), in blocks: the pools of a block are independent of the others,
// and pooling them yields the pools of the whole. Ties: members of a group are sorted by their distances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "mds/passes.hpp"

namespace lowdim {

struct Pool {
    double sum, weight;
    std::int64_t end;  // one past its last value
};

// Pools with increasing means. The open pool is kept apart from the finished ones, so that the compiler can hold it in
// registers; means are compared by cross-multiplication, without division.
class Pools {
  public:
    explicit Pools(std::size_t capacity) { finished_.reserve(capacity); }

    void add(const Pool& pool) {
        if (open_.weight > 0 && (pool.weight <= 0 || open_.sum * pool.weight < pool.sum * open_.weight)) {
            if (pool.weight > 0) {
                finished_.push_back(open_);
                open_ = pool;
            } else {
                open_.end = pool.end;  // a pool without weight joins the one before it
            }
            return;
        }
        open_ = {open_.sum + pool.sum, open_.weight + pool.weight, pool.end};
        while (!finished_.empty() && finished_.back().sum * open_.weight >= open_.sum * finished_.back().weight) {
            open_.sum += finished_.back().sum;
            open_.weight += finished_.back().weight;
            finished_.pop_back();
        }
    }

    std::vector<Pool> finish() {
        finished_.push_back(open_);
        return std::move(finished_);
    }

  private:
    std::vector<Pool> finished_;
    Pool open_{0, 0, 0};
};

// The pools of a block of values: the vertices of the lower convex hull of their running sums. A run of values whose sums
// never fall below the hull of the run ends has no vertex inside, which is true of most runs.
template <class T>
class BlockPools {
  public:
    static constexpr std::int64_t size =
        std::int64_t{hull_run_length} * hull_run_length / 2;  // of a block, so that its run ends are themselves a short run

    explicit BlockPools(const OrderedValues<T>& sequence)
        : sequence_(sequence),
          sums_(static_cast<std::size_t>(runs_of(size) * stride)),
          mass_(sequence.weights == nullptr ? stride : sums_.size()) {
        if (sequence.weights == nullptr)
            for (std::size_t i = 0; i < stride; ++i) mass_[i] = static_cast<double>(i);  // shared by all runs
    }

    std::vector<Pool> of(std::int64_t begin, std::int64_t end) {
        const auto runs = static_cast<int>(runs_of(end - begin)), whole = static_cast<int>((end - begin) / hull_run_length);
        const auto& own = kernels().mds;
        own.of<T>().running_sums(sequence_, begin, whole, hull_run_length, sums_.data(), mass_.data());
        if (whole < runs) {
            const auto at = static_cast<std::size_t>(whole) * stride;
            own.of<T>().running_sums(sequence_, begin + whole * hull_run_length, 1, length(begin, end, whole), sums_.data() + at,
                                     sequence_.weights == nullptr ? nullptr : mass_.data() + at);
        }
        double end_sums[hull_run_length + 1] = {}, end_mass[hull_run_length + 1] = {};
        std::int32_t corners[hull_run_length];
        for (int r = 0; r < runs; ++r) {
            end_sums[r + 1] = end_sums[r] + sums(r)[length(begin, end, r)];
            end_mass[r + 1] = end_mass[r] + mass(r)[length(begin, end, r)];
        }
        Pools pools(256);
        const int edges = own.hull_edges(end_sums, end_mass, runs, corners);
        for (int e = 0, from = 0; e < edges; from = corners[e++]) {
            const double width = end_mass[corners[e]] - end_mass[from];
            const double slope = width > 0 ? (end_sums[corners[e]] - end_sums[from]) / width : 0.0;
            for (int r = from; r < corners[e]; ++r) {
                const double chord = end_sums[from] + slope * (end_mass[r] - end_mass[from]);
                add_run(r, begin + r * hull_run_length, length(begin, end, r), slope, chord - end_sums[r], pools);
            }
        }
        return pools.finish();
    }

  private:
    static constexpr std::size_t stride = hull_run_length + 1;

    static std::int64_t runs_of(std::int64_t count) { return block_count(count, hull_run_length); }
    static int length(std::int64_t begin, std::int64_t end, int r) {
        return static_cast<int>(std::min<std::int64_t>(hull_run_length, end - begin - r * hull_run_length));
    }
    const double* sums(int r) const { return sums_.data() + static_cast<std::size_t>(r) * stride; }
    const double* mass(int r) const { return mass_.data() + (sequence_.weights == nullptr ? 0 : static_cast<std::size_t>(r) * stride); }

    // `chord` is the height of the hull of the run ends above the run's first sum.
    void add_run(int r, std::int64_t first, int count, double slope, double chord, Pools& pools) const {
        const double *sum = sums(r), *weight = mass(r);
        if (kernels().mds.min_below_line(sum, weight, count, slope) >= chord) {
            pools.add({sum[count], weight[count], first + count});
            return;
        }
        const auto pool = [&](int from, int to) { pools.add({sum[to] - sum[from], weight[to] - weight[from], first + to}); };
        int falls = 0;
        for (int i = 1; i < count; ++i) falls += sum[i + 1] - sum[i] < sum[i] - sum[i - 1];
        if (8 * falls < count) {  // nearly sorted: plain PAVA rarely mispredicts
            for (int i = 0; i < count; ++i) pool(i, i + 1);
            return;
        }
        std::int32_t ends[hull_run_length];
        const int edges = kernels().mds.hull_edges(sum, weight, count, ends);
        for (int e = 0, from = 0; e < edges; from = ends[e++]) pool(from, ends[e]);
    }

    const OrderedValues<T>& sequence_;
    std::vector<double> sums_, mass_;
};

// Writes a value to positions first … last of the order.
template <class T>
void fill_pool(T value, const std::int32_t* positions, std::int64_t first, std::int64_t last, T* out) {
    if (positions == nullptr) {
        std::fill(out + first, out + last, value);
    } else {
        for (std::int64_t i = first; i < last; ++i) out[positions[i]] = value;
    }
}

// The weighted least-squares isotonic fit, into `out`, scaled so that its weighted sum of squares is `total` (unless that is
// 0). Returns the sum of squares before scaling.
template <class T>
double isotonic_regression(const OrderedValues<T>& sequence, double total, T* out, const ThreadTeam& team) {
    const std::int64_t n = sequence.n, size = BlockPools<T>::size;
    std::vector<std::vector<Pool>> parts(static_cast<std::size_t>(block_count(n, size)));
    std::vector<BlockPools<T>> workers(static_cast<std::size_t>(team.threads), BlockPools<T>(sequence));
    parallel_ranges(n, size, team, [&](std::int64_t begin, std::int64_t end) {
        parts[static_cast<std::size_t>(begin / size)] = workers[static_cast<std::size_t>(thread_index())].of(begin, end);
    });
    if (team.stopped() || n == 0) return 0;
    std::size_t most = 0;
    for (const auto& part : parts) most += part.size();
    Pools whole(most);
    for (auto& part : parts) {
        for (const Pool& pool : part) whole.add(pool);
        part = {};
    }
    const std::vector<Pool> pools = whole.finish();
    double squares = 0;
    for (const Pool& pool : pools) squares += pool.weight > 0 ? pool.sum * (pool.sum / pool.weight) : 0.0;
    const double scale = total > 0 && squares > 0 ? std::sqrt(total / squares) : 1.0;
    parallel_ranges(n, size, team, [&](std::int64_t i, std::int64_t end) {
        auto pool = std::upper_bound(pools.begin(), pools.end(), i, [](std::int64_t at, const Pool& p) { return at < p.end; });
        for (; i < end; ++pool) {
            const T mean = pool->weight > 0 ? static_cast<T>(scale * (pool->sum / pool->weight)) : T(0);
            const std::int64_t last = std::min(end, pool->end);
            fill_pool(mean, sequence.positions, i, last, out);
            i = last;
        }
    });
    return squares;
}

// Sorts the members of each group of ties by their values.
template <class T>
void sort_ties(const std::int64_t* starts, const std::int64_t* ends, std::int64_t groups, const T* values, std::int32_t* positions,
               const ThreadTeam& team) {
    const auto precedes = [values](std::int32_t a, std::int32_t b) { return values[a] < values[b] || (values[a] == values[b] && a < b); };
    parallel_ranges(groups, 512, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t group = begin; group < end; ++group) {
            if (!std::is_sorted(positions + starts[group], positions + ends[group], precedes))
                std::sort(positions + starts[group], positions + ends[group], precedes);
        }
    });
}

}  // namespace lowdim
