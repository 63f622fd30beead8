// Isotonic regression by pooling adjacent violators, in blocks: the pools of a block don't depend on the others, and
// pools of pools are those of the whole. Ties: members of a group are put in the order of their distances.
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
    std::int64_t end;  // behind its last value
};

// Pools with rising means. The last one stands apart, where the compiler can keep it in registers; means are compared
// by products, which need no division.
class Pools {
  public:
    explicit Pools(std::size_t room) { before_.reserve(room); }

    void add(const Pool& pool) {
        if (last_.weight > 0 && (pool.weight <= 0 || last_.sum * pool.weight < pool.sum * last_.weight)) {
            if (pool.weight > 0) {
                before_.push_back(last_);
                last_ = pool;
            } else {
                last_.end = pool.end;  // what weighs nothing joins those before it
            }
            return;
        }
        last_ = {last_.sum + pool.sum, last_.weight + pool.weight, pool.end};
        while (!before_.empty() && before_.back().sum * last_.weight >= last_.sum * before_.back().weight) {
            last_.sum += before_.back().sum;
            last_.weight += before_.back().weight;
            before_.pop_back();
        }
    }

    std::vector<Pool> finish() {
        before_.push_back(last_);
        return std::move(before_);
    }

  private:
    std::vector<Pool> before_;
    Pool last_{0, 0, 0};
};

// The pools of a block of numbers: corners of the lower hull of their running sums. A run of numbers whose sums nowhere go
// below the hull of the ends of all runs has no corner inside, and most runs are such.
template <class T>
class BlockPools {
  public:
    static constexpr std::int64_t size = std::int64_t{hull_run} * hull_run / 2;  // of a block: its ends are a short run, too

    explicit BlockPools(const Sequence<T>& sequence)
        : sequence_(sequence), sums_(static_cast<std::size_t>(runs_of(size) * stride)), mass_(sequence.weights == nullptr ? stride : sums_.size()) {
        if (sequence.weights == nullptr)
            for (std::size_t i = 0; i < stride; ++i) mass_[i] = static_cast<double>(i);  // of every run
    }

    std::vector<Pool> of(std::int64_t begin, std::int64_t end) {
        const auto runs = static_cast<int>(runs_of(end - begin)), whole = static_cast<int>((end - begin) / hull_run);
        const auto& own = kernels().smacof;
        own.of<T>().running_sums(sequence_, begin, whole, hull_run, sums_.data(), mass_.data());
        if (whole < runs) {
            const auto at = static_cast<std::size_t>(whole) * stride;
            own.of<T>().running_sums(sequence_, begin + whole * hull_run, 1, length(begin, end, whole), sums_.data() + at,
                                     sequence_.weights == nullptr ? nullptr : mass_.data() + at);
        }
        double end_sums[hull_run + 1] = {}, end_mass[hull_run + 1] = {};
        std::int32_t corners[hull_run];
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
                const double line = end_sums[from] + slope * (end_mass[r] - end_mass[from]);
                add_run(r, begin + r * hull_run, length(begin, end, r), slope, line - end_sums[r], pools);
            }
        }
        return pools.finish();
    }

  private:
    static constexpr std::size_t stride = hull_run + 1;

    static std::int64_t runs_of(std::int64_t count) { return blocks_of(count, hull_run); }
    static int length(std::int64_t begin, std::int64_t end, int r) {
        return static_cast<int>(std::min<std::int64_t>(hull_run, end - begin - r * hull_run));
    }
    const double* sums(int r) const { return sums_.data() + static_cast<std::size_t>(r) * stride; }
    const double* mass(int r) const { return mass_.data() + (sequence_.weights == nullptr ? 0 : static_cast<std::size_t>(r) * stride); }

    // `line` is where the hull of the ends stands above the first of the run's sums.
    void add_run(int r, std::int64_t first, int count, double slope, double line, Pools& pools) const {
        const double *sum = sums(r), *weight = mass(r);
        if (kernels().smacof.deepest(sum, weight, count, slope) >= line) {
            pools.add({sum[count], weight[count], first + count});
            return;
        }
        const auto pool = [&](int from, int to) { pools.add({sum[to] - sum[from], weight[to] - weight[from], first + to}); };
        int falls = 0;
        for (int i = 1; i < count; ++i) falls += sum[i + 1] - sum[i] < sum[i] - sum[i - 1];
        if (8 * falls < count) {  // nearly sorted: pooling one after the other seldom guesses wrong
            for (int i = 0; i < count; ++i) pool(i, i + 1);
            return;
        }
        std::int32_t ends[hull_run];
        const int edges = kernels().smacof.hull_edges(sum, weight, count, ends);
        for (int e = 0, from = 0; e < edges; from = ends[e++]) pool(from, ends[e]);
    }

    const Sequence<T>& sequence_;
    std::vector<double> sums_, mass_;
};

// Writes a value to the numbers first … last.
template <class T>
void spread_out(T value, const std::int32_t* places, std::int64_t first, std::int64_t last, T* out) {
    if (places == nullptr) {
        std::fill(out + first, out + last, value);
    } else {
        for (std::int64_t i = first; i < last; ++i) out[places[i]] = value;
    }
}

// The nearest rising sequence in weighted least squares, into out, stretched so that its weighted sum of squares is
// `total` (unless that is 0). Returns what the sum was.
template <class T>
double isotonic(const Sequence<T>& sequence, double total, T* out, const Crew& crew) {
    const std::int64_t n = sequence.n, size = BlockPools<T>::size;
    std::vector<std::vector<Pool>> parts(static_cast<std::size_t>(blocks_of(n, size)));
    std::vector<BlockPools<T>> rooms(static_cast<std::size_t>(crew.threads), BlockPools<T>(sequence));
    parallel_ranges(n, size, crew, [&](std::int64_t begin, std::int64_t end) {
        parts[static_cast<std::size_t>(begin / size)] = rooms[static_cast<std::size_t>(thread_index())].of(begin, end);
    });
    if (crew.stopped() || n == 0) return 0;
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
    const double stretch = total > 0 && squares > 0 ? std::sqrt(total / squares) : 1.0;
    parallel_ranges(n, size, crew, [&](std::int64_t i, std::int64_t end) {
        auto pool = std::upper_bound(pools.begin(), pools.end(), i, [](std::int64_t at, const Pool& p) { return at < p.end; });
        for (; i < end; ++pool) {
            const T mean = pool->weight > 0 ? static_cast<T>(stretch * (pool->sum / pool->weight)) : T(0);
            const std::int64_t last = std::min(end, pool->end);
            spread_out(mean, sequence.places, i, last, out);
            i = last;
        }
    });
    return squares;
}

// Puts the members of each group of ties in the order of their values.
template <class T>
void sort_ties(const std::int64_t* starts, const std::int64_t* ends, std::int64_t groups, const T* values, std::int32_t* places,
               const Crew& crew) {
    const auto before = [values](std::int32_t a, std::int32_t b) { return values[a] < values[b] || (values[a] == values[b] && a < b); };
    parallel_ranges(groups, 512, crew, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t group = begin; group < end; ++group) {
            if (!std::is_sorted(places + starts[group], places + ends[group], before))
                std::sort(places + starts[group], places + ends[group], before);
        }
    });
}

}  // namespace lowdim
