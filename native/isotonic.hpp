// Isotonic regression by pooling adjacent violators, in blocks: the pools of a block don't depend on the others, and
// pools of pools are those of the whole. Ties: members of a group are put in the order of their distances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "pairs.hpp"

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

template <class T>
struct Sequence {
    const T* values;
    const T* weights;            // null: all one
    const std::int32_t* places;  // where number i stands in both, and in what is made of them; null: at i
    std::int64_t n;
};

// The nearest rising sequence in weighted least squares, into out, stretched so that its weighted sum of squares is
// `total` (unless that is 0). Returns what the sum was.
template <class T>
double isotonic(const Sequence<T>& sequence, double total, T* out, const PairOptions& options) {
    const auto [values, weights, places, n] = sequence;
    constexpr std::int64_t block_size = 1 << 14;
    const std::int64_t blocks = blocks_of(n, block_size);
    std::vector<std::vector<Pool>> parts(static_cast<std::size_t>(blocks));
    parallel_blocks(blocks, options.threads, *options.stop, [&](std::int64_t block) {
        Pools pools(256);
        const std::int64_t end = std::min(n, (block + 1) * block_size);
        double sums[hull_run + 1] = {}, mass[hull_run + 1] = {};
        std::int32_t ends[hull_run];
        for (std::int64_t first = block * block_size; first < end; first += hull_run) {
            const int count = static_cast<int>(std::min<std::int64_t>(hull_run, end - first));
            int falls = 0;
            double before = 0, sum = 0, weight = 0;  // in registers: a sum that goes through memory waits for it
            for (int i = 0; i < count; ++i) {
                const std::int64_t at = places == nullptr ? first + i : places[first + i];
                const double w = weights == nullptr ? 1.0 : static_cast<double>(weights[at]), value = static_cast<double>(values[at]);
                falls += value < before;
                before = value;
                sums[i + 1] = sum += w * value;
                mass[i + 1] = weight += w;
            }
            if (8 * falls < count) {  // nearly sorted: pooling one after the other seldom guesses wrong
                for (int i = 0; i < count; ++i) pools.add({sums[i + 1] - sums[i], mass[i + 1] - mass[i], first + i + 1});
                continue;
            }
            const int edges = kernels().smacof.hull_edges(sums, mass, count, ends);
            for (int e = 0, from = 0; e < edges; from = ends[e++])
                pools.add({sums[ends[e]] - sums[from], mass[ends[e]] - mass[from], first + ends[e]});
        }
        parts[static_cast<std::size_t>(block)] = pools.finish();
    });
    if (options.stop->requested() || n == 0) return 0;
    Pools whole(1024);
    for (auto& part : parts) {
        for (const Pool& pool : part) whole.add(pool);
        part = {};
    }
    const std::vector<Pool> pools = whole.finish();
    double squares = 0;
    for (const Pool& pool : pools) squares += pool.weight > 0 ? pool.sum * (pool.sum / pool.weight) : 0.0;
    const double stretch = total > 0 && squares > 0 ? std::sqrt(total / squares) : 1.0;
    parallel_blocks(blocks, options.threads, *options.stop, [&](std::int64_t block) {
        std::int64_t i = block * block_size;
        const std::int64_t end = std::min(n, i + block_size);
        auto pool = std::upper_bound(pools.begin(), pools.end(), i, [](std::int64_t at, const Pool& p) { return at < p.end; });
        for (; i < end; ++pool) {
            const T mean = pool->weight > 0 ? static_cast<T>(stretch * (pool->sum / pool->weight)) : T(0);
            const std::int64_t last = std::min(end, pool->end);
            for (; i < last; ++i) out[places == nullptr ? i : places[i]] = mean;
        }
    });
    return squares;
}

// Puts the members of each group of ties in the order of their values.
template <class T>
void sort_ties(const std::int64_t* starts, const std::int64_t* ends, std::int64_t groups, const T* values, std::int32_t* places,
               const PairOptions& options) {
    constexpr std::int64_t few = 512;
    const auto before = [values](std::int32_t a, std::int32_t b) { return values[a] < values[b] || (values[a] == values[b] && a < b); };
    parallel_blocks(blocks_of(groups, few), options.threads, *options.stop, [&](std::int64_t block) {
        for (std::int64_t group = block * few; group < std::min(groups, (block + 1) * few); ++group) {
            if (!std::is_sorted(places + starts[group], places + ends[group], before))
                std::sort(places + starts[group], places + ends[group], before);
        }
    });
}

}  // namespace lowdim
