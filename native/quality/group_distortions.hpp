// Steadiness and cohesiveness (Jeon, Ko, Jo, Kim, Seo 2021): groups that a random walk finds in one space are clustered in the
// other, and the distances between the clusters are compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "core/philox.hpp"
#include "quality/hdbscan.hpp"

namespace lowdim {

// Similarities of m rows by their shared nearest neighbors, (m, m), from 0 to 1, in both spaces.
struct TwoSpaces {
    const float *walked, *clustered;
    const std::int32_t* neighbors;  // (m, k) in the space that is walked in
    std::int64_t m, k, visits;
    double alpha;  // a distance is 1 / (similarity + alpha)
    double worst;  // the largest difference of two distances
    std::uint64_t seed;
};

class GroupWalk {
  public:
    explicit GroupWalk(const TwoSpaces& spaces) : spaces_(spaces), seen_(static_cast<std::size_t>(spaces.m)) {}

    // For every row of the group, Σ distortion × size and Σ size over the clusters that it is drawn nearer to than it is, (m,).
    void measure(std::uint64_t number, double* numerators, double* denominators) {
        collect(number);
        if (members_.size() < 2) return;
        separate();
        compare(numerators, denominators);
    }

  private:
    static constexpr int attempts = 100;

    // Breadth first from a random row: a neighbor is visited with the probability of its similarity.
    void collect(std::uint64_t number) {
        std::uint64_t draws = 0;
        const auto random = [&] {
            const PhiloxWords words = draw(spaces_.seed, number, draws++);
            return unit(words[0], words[1]);
        };
        members_.clear();
        for (int attempt = 0; attempt < attempts && members_.size() < 2; ++attempt) {
            for (const std::int32_t row : members_) seen_[row] = false;
            members_.clear();
            const auto start = static_cast<std::int32_t>(random() * static_cast<double>(spaces_.m));
            queue_.assign(1, start);
            add(start);
            for (std::size_t next = 0; next < queue_.size() && static_cast<std::int64_t>(queue_.size()) <= spaces_.visits; ++next) {
                const std::int64_t i = queue_[next];
                for (std::int64_t p = 0; p < spaces_.k; ++p) {
                    const std::int32_t j = spaces_.neighbors[i * spaces_.k + p];
                    if (random() < spaces_.walked[i * spaces_.m + j]) {
                        queue_.push_back(j);
                        add(j);
                    }
                }
            }
        }
        for (const std::int32_t row : members_) seen_[row] = false;
        std::sort(members_.begin(), members_.end());
    }

    void add(std::int32_t row) {
        if (!seen_[row]) members_.push_back(row);
        seen_[row] = true;
    }

    // Clusters of the group in the other space; a row that is noise is one of its own.
    void separate() {
        const auto p = static_cast<std::int32_t>(members_.size());
        distances_.resize(static_cast<std::size_t>(p) * p);
        for (std::int32_t a = 0; a < p; ++a)
            for (std::int32_t b = 0; b < p; ++b)
                distances_[std::size_t(a) * p + b] = a == b ? 0.0f : static_cast<float>(distance(spaces_.clustered[at(a, b)]));
        labels_.resize(static_cast<std::size_t>(p));
        std::int32_t count = hdbscan_.cluster(distances_.data(), p, labels_.data());
        for (std::int32_t& label : labels_)
            if (label < 0) label = count++;
        sizes_.assign(static_cast<std::size_t>(count), 0);
        for (const std::int32_t label : labels_) ++sizes_[label];
    }

    void compare(double* numerators, double* denominators) {
        const std::size_t p = members_.size(), count = sizes_.size();
        walked_.assign(count * count, 0.0);
        clustered_.assign(count * count, 0.0);
        for (std::size_t a = 0; a < p; ++a)
            for (std::size_t b = 0; b < p; ++b) {
                const std::size_t pair = std::size_t(labels_[a]) * count + labels_[b];
                walked_[pair] += spaces_.walked[at(a, b)];
                clustered_[pair] += spaces_.clustered[at(a, b)];
            }
        distortion_.assign(count, 0.0);
        weight_.assign(count, 0.0);
        for (std::size_t a = 0; a < count; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                const double pairs = static_cast<double>(sizes_[a]) * sizes_[b];
                const double gap = distance(clustered_[a * count + b] / pairs) - distance(walked_[a * count + b] / pairs);
                if (gap <= 0) continue;
                distortion_[a] += gap / spaces_.worst * sizes_[b];
                distortion_[b] += gap / spaces_.worst * sizes_[a];
                weight_[a] += sizes_[b];
                weight_[b] += sizes_[a];
            }
        for (std::size_t a = 0; a < p; ++a) {
            numerators[members_[a]] = distortion_[labels_[a]];
            denominators[members_[a]] = weight_[labels_[a]];
        }
    }

    double distance(double similarity) const { return 1.0 / (similarity + spaces_.alpha); }
    std::int64_t at(std::size_t a, std::size_t b) const { return members_[a] * spaces_.m + members_[b]; }

    const TwoSpaces& spaces_;
    Hdbscan hdbscan_;
    std::vector<char> seen_;
    std::vector<std::int32_t> members_, queue_, labels_, sizes_;
    std::vector<float> distances_;
    std::vector<double> walked_, clustered_, distortion_, weight_;
};

// One row of both (walks, m) per walk; 0 for rows that are not in its group.
inline void group_distortions(const TwoSpaces& spaces, std::int64_t walks, double* numerators, double* denominators,
                              const ThreadTeam& team) {
    std::fill(numerators, numerators + walks * spaces.m, 0.0);
    std::fill(denominators, denominators + walks * spaces.m, 0.0);
    parallel_ranges(walks, 4, team, [&](std::int64_t begin, std::int64_t end) {
        GroupWalk walk(spaces);
        for (std::int64_t w = begin; w < end && !team.stopped(); ++w)
            walk.measure(static_cast<std::uint64_t>(w), numerators + w * spaces.m, denominators + w * spaces.m);
    });
}

}  // namespace lowdim
