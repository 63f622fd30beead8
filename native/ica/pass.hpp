// The pass over whitened rows, shared among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "dispatch/kernels.hpp"

namespace lowdim {

// Adds sums of consecutive canonical blocks along the binary tree of data/fold.py, neighbors first: the bits of the total are those
// of a fold over blocks that come one by one, from a file or from the workers of a cluster.
class BlockTree {
  public:
    void add(std::vector<double> sums) {
        int level = 0;
        for (; !waiting_.empty() && waiting_.back().first == level; ++level) sums = merged(pop(), sums);
        waiting_.emplace_back(level, std::move(sums));
    }

    // The sums of all blocks: zeros of this number if there are none.
    std::vector<double> total(std::int64_t length) {
        std::vector<double> sums = waiting_.empty() ? std::vector<double>(static_cast<std::size_t>(length), 0.0) : pop();
        while (!waiting_.empty()) sums = merged(pop(), sums);
        return sums;
    }

  private:
    std::vector<double> pop() {
        std::vector<double> last = std::move(waiting_.back().second);
        waiting_.pop_back();
        return last;
    }

    static std::vector<double> merged(std::vector<double> a, const std::vector<double>& b) {
        for (std::size_t e = 0; e < a.size(); ++e) a[e] += b[e];
        return a;
    }

    std::vector<std::pair<int, std::vector<double>>> waiting_;  // level and sums, of falling levels
};

// How a pass is shared: groups of rows inside a canonical block, and as many blocks at once as keep all threads busy. Neither
// depends on the number of rows or of threads.
struct IcaShares {
    std::int64_t length;  // numbers that a group sums up
    std::int64_t groups;  // of a canonical block
    std::int64_t blocks;  // canonical blocks at once

    template <class T>
    static IcaShares of(const IcaPass<T>& pass) {
        constexpr std::int64_t fitting = std::int64_t{1} << 21, least = 8, most = 32;
        const std::int64_t length = std::max<std::int64_t>(pass.sources * (pass.columns + ica_sums), 1);
        const std::int64_t wanted = pass.block_rows / std::max<std::int64_t>(256, ica_block_rows(pass.columns, sizeof(T)));
        const std::int64_t groups = std::clamp<std::int64_t>(wanted, 1, std::clamp(fitting / length, least, most));
        return {length, groups, std::max(block_count(least, groups), fitting / (groups * length))};
    }
};

// moments (sources, columns) = Σ w ψ(y) zᵀ and sums (sources, 3) = Σ w ψ', Σ w ψ' y², Σ w ρ: groups of rows are added in order to
// the sums of their canonical block, and these along the tree.
template <class T>
void ica_pass(const IcaPass<T>& pass, int contrast, double* moments, double* sums, const ThreadTeam& team) {
    const auto kernel = kernels().ica.of<T>().block[contrast];
    const IcaShares shares = IcaShares::of(pass);
    const std::int64_t size = ica_block_rows(pass.columns, sizeof(T)), moment_count = pass.sources * pass.columns;
    const std::int64_t blocks = block_count(pass.n, pass.block_rows), at_once = std::min(blocks, shares.blocks);
    const auto pieces_of = [&](std::int64_t block) {
        return block_count(std::min(pass.n - block * pass.block_rows, pass.block_rows), size);
    };
    std::vector<double> parts(static_cast<std::size_t>(at_once * shares.groups * shares.length));
    BlockTree tree;
    for (std::int64_t first = 0; first < blocks && !team.stopped(); first += at_once) {
        const std::int64_t here = std::min(at_once, blocks - first);
        std::fill(parts.begin(), parts.end(), 0.0);
        parallel_blocks(here * shares.groups, team, [&](std::int64_t task) {
            const std::int64_t block = first + task / shares.groups, group = task % shares.groups;
            const std::int64_t pieces = pieces_of(block), groups = std::min(shares.groups, pieces);
            if (group >= groups) return;
            const std::int64_t start = block * pass.block_rows, stop = std::min(pass.n, start + pass.block_rows);
            std::vector<T> scratch(static_cast<std::size_t>(ica_scratch(pass.columns, sizeof(T))));
            double* part = parts.data() + task * shares.length;
            for (std::int64_t piece = group * pieces / groups; piece < (group + 1) * pieces / groups && !team.stopped(); ++piece) {
                if (thread_index() == 0) team.stop->poll();
                const std::int64_t begin = start + piece * size;
                kernel(pass, begin, std::min(stop, begin + size), scratch.data(), part, part + moment_count);
            }
        });
        std::vector<std::vector<double>> added(static_cast<std::size_t>(here));
        parallel_blocks(here, team, [&](std::int64_t block) {
            const double* part = parts.data() + block * shares.groups * shares.length;
            std::vector<double>& sum = added[static_cast<std::size_t>(block)];
            sum.assign(part, part + shares.length);
            const std::int64_t groups = std::min(shares.groups, pieces_of(first + block));
            for (std::int64_t group = 1; group < groups; ++group)
                for (std::int64_t e = 0; e < shares.length; ++e) sum[static_cast<std::size_t>(e)] += part[group * shares.length + e];
        });
        if (team.stopped()) return;
        for (std::vector<double>& sum : added) tree.add(std::move(sum));
    }
    const std::vector<double> total = tree.total(shares.length);
    std::copy_n(total.begin(), moment_count, moments);
    std::copy_n(total.begin() + moment_count, pass.sources * ica_sums, sums);
}

}  // namespace lowdim
