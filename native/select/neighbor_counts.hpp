// What k-NN estimates of mutual information count: rows closer than the k-th neighbor. Kraskov, Stögbauer and Grassberger (2004)
// for two measurements in the maximum norm, Ross (2014) for a measurement and classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

namespace lowdim {

constexpr std::int64_t count_rows_per_task = 1024;

// A column and its rows in ascending order.
struct SortedColumn {
    std::vector<double> values;  // ascending
    std::vector<std::int32_t> rank;  // of each row

    SortedColumn(const double* x, const std::int32_t* order, std::int64_t n) : values(n), rank(n) {
        for (std::int64_t i = 0; i < n; ++i) {
            values[i] = x[order[i]];
            rank[order[i]] = static_cast<std::int32_t>(i);
        }
    }

    // Rows closer than `radius` to the row of this rank, itself included; those that coincide with it if the radius is 0. By
    // galloping from the rank: the rounded differences decide, as they do in the search for neighbors.
    std::int64_t closer(std::int64_t at, double radius) const {
        const double center = values[at];
        const auto near = [&](std::int64_t i) {
            const double gap = std::fabs(values[i] - center);
            return radius > 0 ? gap < radius : gap == 0;
        };
        return reach(static_cast<std::int64_t>(values.size()) - 1 - at, [&](std::int64_t step) { return near(at + step); }) +
               reach(at, [&](std::int64_t step) { return near(at - step); }) + 1;
    }

  private:
    // The number of steps 1, 2, … up to `most` that are near; those beyond the first far one are far too.
    template <class Near>
    static std::int64_t reach(std::int64_t most, const Near& near) {
        std::int64_t known = 0, stride = 1;
        while (known + stride <= most && near(known + stride)) {
            known += stride;
            stride *= 2;
        }
        std::int64_t beyond = std::min(known + stride, most + 1);  // the first step that may be far
        while (beyond - known > 1) {
            const std::int64_t middle = known + (beyond - known) / 2;
            (near(middle) ? known : beyond) = middle;
        }
        return known;
    }
};

// Points in strips of equal numbers along x, each strip sorted by y: the k nearest of a point are in few strips, and there next
// to its own y.
class Strips {
  public:
    Strips(const SortedColumn& x, const SortedColumn& y, const std::int32_t* order_y, std::int64_t k)
        : n_(static_cast<std::int64_t>(x.values.size())),
          size_(std::max<std::int64_t>(8, static_cast<std::int64_t>(std::sqrt(static_cast<double>(n_) * static_cast<double>(k))))),
          count_((n_ + size_ - 1) / size_),
          sorted_x_(x.values.data()),
          x_(n_),
          y_(n_),
          place_(n_) {
        std::vector<std::int64_t> next(count_);
        for (std::int64_t strip = 0; strip < count_; ++strip) next[strip] = strip * size_;
        for (std::int64_t i = 0; i < n_; ++i) {
            const std::int32_t row = order_y[i];
            const std::int64_t rank = x.rank[row], at = next[rank / size_]++;
            x_[at] = x.values[rank];
            y_[at] = y.values[i];
            place_[rank] = static_cast<std::int32_t>(at);
        }
    }

    // The distance of the point of this rank in x to its k-th nearest other one; `best` is scratch of k numbers.
    double kth_distance(std::int64_t rank, std::int64_t k, double* best) const {
        std::fill_n(best, k, std::numeric_limits<double>::infinity());
        const std::int64_t at = place_[rank], own = rank / size_;
        const Query query{x_[at], y_[at], k, best};
        scan(query, own, at + 1, at);
        for (std::int64_t strip = own - 1; strip >= 0 && query.x - last_x(strip) < query.radius(); --strip) visit(query, strip);
        for (std::int64_t strip = own + 1; strip < count_ && sorted_x_[strip * size_] - query.x < query.radius(); ++strip) visit(query, strip);
        return query.radius();
    }

  private:
    struct Query {
        double x, y;
        std::int64_t k;
        double* best;  // ascending

        double radius() const { return best[k - 1]; }

        void offer(double distance) const {
            if (!(distance < radius())) return;
            std::int64_t j = k - 1;
            for (; j > 0 && best[j - 1] > distance; --j) best[j] = best[j - 1];
            best[j] = distance;
        }
    };

    double last_x(std::int64_t strip) const { return sorted_x_[std::min(n_, (strip + 1) * size_) - 1]; }

    void visit(const Query& query, std::int64_t strip) const {
        const double* begin = y_.data() + strip * size_;
        const double* end = y_.data() + std::min(n_, (strip + 1) * size_);
        const std::int64_t at = std::lower_bound(begin, end, query.y) - y_.data();
        scan(query, strip, at, at);
    }

    // Upward from `up` and downward from below `down`, while the difference in y alone is less than the radius.
    void scan(const Query& query, std::int64_t strip, std::int64_t up, std::int64_t down) const {
        const std::int64_t begin = strip * size_, end = std::min(n_, (strip + 1) * size_);
        for (double gap; up < end && (gap = y_[up] - query.y) < query.radius(); ++up) query.offer(std::max(gap, std::fabs(x_[up] - query.x)));
        for (double gap; down > begin && (gap = query.y - y_[down - 1]) < query.radius(); --down)
            query.offer(std::max(gap, std::fabs(x_[down - 1] - query.x)));
    }

    std::int64_t n_, size_, count_;
    const double* sorted_x_;
    std::vector<double> x_, y_;  // by strip, then by y
    std::vector<std::int32_t> place_;  // of the point of each rank in x
};

// For each row, the rows closer in x, and those closer in y, than its k-th neighbor in the maximum norm of both.
inline void ksg_counts(const double* x, const double* y, const std::int32_t* order_x, const std::int32_t* order_y, std::int64_t n,
                       std::int64_t k, std::int32_t* closer_x, std::int32_t* closer_y, const ThreadTeam& team) {
    const SortedColumn along_x(x, order_x, n), along_y(y, order_y, n);
    const Strips strips(along_x, along_y, order_y, k);
    parallel_ranges(n, count_rows_per_task, team, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> best(k);
        for (std::int64_t rank = begin; rank < end; ++rank) {
            const std::int32_t row = order_x[rank];
            const double radius = strips.kth_distance(rank, k, best.data());
            closer_x[row] = static_cast<std::int32_t>(along_x.closer(rank, radius));
            closer_y[row] = static_cast<std::int32_t>(along_y.closer(along_y.rank[row], radius));
        }
    });
}

// For each row, the rows closer than its k-th neighbor of the same class. A class of no more than k rows takes them all; every
// class must have at least two.
inline void ross_counts(const double* x, const std::int32_t* order, const std::int32_t* codes, std::int64_t classes, std::int64_t n,
                        std::int64_t k, std::int32_t* closer, const ThreadTeam& team) {
    const SortedColumn column(x, order, n);
    std::vector<std::int64_t> starts(classes + 1, 0);
    for (std::int64_t i = 0; i < n; ++i) ++starts[codes[i] + 1];
    for (std::int64_t c = 0; c < classes; ++c) starts[c + 1] += starts[c];
    std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
    std::vector<std::int32_t> members(n);  // ranks, ascending, by class
    for (std::int64_t i = 0; i < n; ++i) members[next[codes[order[i]]]++] = static_cast<std::int32_t>(i);
    std::vector<double> radii(n);
    for (std::int64_t c = 0; c < classes; ++c) {
        const std::int32_t* own = members.data() + starts[c];
        const std::int64_t size = starts[c + 1] - starts[c], near = std::min(k, size - 1);
        std::int64_t first = 0;  // of the window of near + 1 rows around row i that reaches least far
        for (std::int64_t i = 0; i < size; ++i) {
            const double center = column.values[own[i]];
            first = std::max(first, i - near);
            while (first < i && first + near + 1 < size && column.values[own[first + near + 1]] - center < center - column.values[own[first]])
                ++first;
            radii[own[i]] = std::max(center - column.values[own[first]], column.values[own[first + near]] - center);
        }
    }
    parallel_ranges(n, count_rows_per_task, team, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t rank = begin; rank < end; ++rank)
            closer[order[rank]] = static_cast<std::int32_t>(column.closer(rank, radii[rank]));
    });
}

}  // namespace lowdim
