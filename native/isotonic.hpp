// Isotonic regression by pooling adjacent violators, in blocks: the pools of a block don't depend on the others, and
// pools of pools are those of the whole. Ties: members of a group are put in the order of their distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pairs.hpp"

namespace lowdim {

struct Pool {
    double sum, weight;
    std::int64_t end;  // behind its last value
    double mean() const { return sum / weight; }
};

// Puts a pool on a stack of pools with rising means. Weightless pools join whatever stands before them.
inline void push_pool(std::vector<Pool>& stack, Pool pool) {
    while (!stack.empty() && (pool.weight <= 0 || stack.back().weight <= 0 || stack.back().mean() >= pool.mean())) {
        pool.sum += stack.back().sum;
        pool.weight += stack.back().weight;
        stack.pop_back();
    }
    stack.push_back(pool);
}

// The nearest rising sequence to values (n,) in weighted least squares, into out.
template <class T>
void isotonic(const T* values, const T* weights, std::int64_t n, T* out, const PairOptions& options) {
    constexpr std::int64_t block_size = 1 << 14;
    const std::int64_t blocks = blocks_of(n, block_size);
    std::vector<std::vector<Pool>> parts(static_cast<std::size_t>(blocks));
    parallel_blocks(blocks, options.threads, *options.stop, [&](std::int64_t block) {
        auto& stack = parts[static_cast<std::size_t>(block)];
        const std::int64_t end = std::min(n, (block + 1) * block_size);
        for (std::int64_t i = block * block_size; i < end; ++i) {
            const double w = weights == nullptr ? 1.0 : static_cast<double>(weights[i]);
            push_pool(stack, {w * static_cast<double>(values[i]), w, i + 1});
        }
    });
    std::vector<Pool> pools;
    for (auto& part : parts) {
        for (const Pool& pool : part) push_pool(pools, pool);
        part = {};
    }
    if (options.stop->requested()) return;
    parallel_blocks(blocks, options.threads, *options.stop, [&](std::int64_t block) {
        std::int64_t i = block * block_size;
        const std::int64_t end = std::min(n, i + block_size);
        auto pool = std::upper_bound(pools.begin(), pools.end(), i, [](std::int64_t at, const Pool& p) { return at < p.end; });
        for (; i < end; ++pool) {
            const T mean = pool->weight > 0 ? static_cast<T>(pool->mean()) : T(0);
            for (; i < std::min(end, pool->end); ++i) out[i] = mean;
        }
    });
}

// Puts the members of each group of ties in the order of their values: `slots` (by pair) and `members` (by slot) follow.
template <class T>
void sort_ties(const std::int64_t* starts, const std::int64_t* ends, std::int64_t groups, T* values, std::int32_t* members,
               std::int32_t* slots, const PairOptions& options) {
    parallel_blocks(groups, options.threads, *options.stop, [&](std::int64_t group) {
        const std::int64_t begin = starts[group], count = ends[group] - begin;
        std::vector<std::pair<T, std::int32_t>> tied(static_cast<std::size_t>(count));
        for (std::int64_t s = 0; s < count; ++s) tied[static_cast<std::size_t>(s)] = {values[begin + s], members[begin + s]};
        std::sort(tied.begin(), tied.end());
        for (std::int64_t s = 0; s < count; ++s) {
            const auto& [value, pair] = tied[static_cast<std::size_t>(s)];
            values[begin + s] = value;
            members[begin + s] = pair;
            slots[pair] = static_cast<std::int32_t>(begin + s);
        }
    });
}

}  // namespace lowdim
