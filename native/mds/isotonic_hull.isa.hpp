// Isotonic regression of a short run of values as the lower convex hull of their running sums: the edges of the hull are the
// pools. Recursive splitting at the point farthest below a chord runs long branch-free loops, where plain PAVA mispredicts
// every second branch.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

// Running sums of w v and of w, each from 0, for `runs` runs of `length` values from `first` on; each run takes
// hull_run_length + 1 entries. Four runs are interleaved, because a sum depends on the one before it but not on other runs.
template <class T, bool weighted, bool permuted>
void running_sums_of(const OrderedValues<T>& sequence, std::int64_t first, int runs, int length, double* sums, double* mass) {
    constexpr int interleaved = 4;
    for (int run = 0; run < runs; run += interleaved) {
        const int here = std::min(interleaved, runs - run);
        double sum[interleaved] = {}, weight[interleaved] = {};
        const auto add = [&](int r, int i) {
            const std::int64_t number = first + static_cast<std::int64_t>(run + r) * length + i;
            const std::int64_t at = permuted ? sequence.positions[number] : number,
                               to = static_cast<std::int64_t>(run + r) * (hull_run_length + 1) + i + 1;
            const double w = weighted ? static_cast<double>(sequence.weights[at]) : 1.0;
            sums[to] = sum[r] += w * static_cast<double>(sequence.values[at]);
            if (weighted) mass[to] = weight[r] += w;
        };
        for (int r = 0; r < here; ++r) {
            sums[static_cast<std::int64_t>(run + r) * (hull_run_length + 1)] = 0;
            if (weighted) mass[static_cast<std::int64_t>(run + r) * (hull_run_length + 1)] = 0;
        }
        if (here == interleaved) {
            for (int i = 0; i < length; ++i)
                for (int r = 0; r < interleaved; ++r) add(r, i);
        } else {
            for (int r = 0; r < here; ++r)
                for (int i = 0; i < length; ++i) add(r, i);
        }
    }
}

template <class T>
void running_sums(const OrderedValues<T>& sequence, std::int64_t first, int runs, int length, double* sums, double* mass) {
    if (sequence.weights == nullptr) {
        (sequence.positions == nullptr ? running_sums_of<T, false, false> : running_sums_of<T, false, true>)(sequence, first, runs, length,
                                                                                                             sums, mass);
    } else {
        (sequence.positions == nullptr ? running_sums_of<T, true, false> : running_sums_of<T, true, true>)(sequence, first, runs, length,
                                                                                                           sums, mass);
    }
}

// The minimum of the running sums, (count + 1,), below a line of that slope through their first point: at most 0.
inline double min_below_line(const double* sums, const double* mass, int count, double slope) {
    double least[8] = {};
    int i = 1;
    for (; i + 8 <= count + 1; i += 8) {
#pragma omp simd
        for (int l = 0; l < 8; ++l) {
            const double here = sums[i + l] - slope * mass[i + l];
            least[l] = here < least[l] ? here : least[l];
        }
    }
    for (; i <= count; ++i) {
        const double here = sums[i] - slope * mass[i];
        least[0] = here < least[0] ? here : least[0];
    }
    double out = 0;
    for (int l = 0; l < 8; ++l) out = least[l] < out ? least[l] : out;
    return out;
}

// sums and mass, (count + 1,), start at 0. Returns the number of hull edges; ends[e] is one past edge e.
inline int hull_edges(const double* sums, const double* mass, int count, std::int32_t* ends) {
    std::int32_t pending[hull_run_length + 1];  // right ends of the chords still to examine, the next one last
    double below[hull_run_length + 1];
    int edges = 0, depth = 0, left = 0;
    pending[depth++] = count;
    while (depth > 0) {
        const int right = pending[depth - 1];
        const double width = mass[right] - mass[left];
        double min_below_line = 0;
        if (right - left > 1 && width > 0) {
            const double slope = (sums[right] - sums[left]) / width;
            double least[8] = {};  // lanes, because without -ffast-math a minimum of floats is not vectorized as a reduction
            int i = left + 1;
            for (; i + 8 <= right; i += 8) {
#pragma omp simd
                for (int l = 0; l < 8; ++l) {
                    const double depth_here = sums[i + l] - sums[left] - slope * (mass[i + l] - mass[left]);
                    below[i + l] = depth_here;
                    least[l] = depth_here < least[l] ? depth_here : least[l];
                }
            }
            for (; i < right; ++i) {
                below[i] = sums[i] - sums[left] - slope * (mass[i] - mass[left]);
                least[0] = below[i] < least[0] ? below[i] : least[0];
            }
            for (int l = 0; l < 8; ++l) min_below_line = least[l] < min_below_line ? least[l] : min_below_line;
        }
        if (min_below_line < 0) {
            int i = left + 1;
            for (; i + 8 <= right; i += 8) {
                int here = 0;
#pragma omp simd reduction(| : here)
                for (int l = 0; l < 8; ++l) here |= below[i + l] == min_below_line;
                if (here) break;
            }
            while (below[i] != min_below_line) ++i;
            pending[depth++] = i;
        } else {
            ends[edges++] = right;
            left = right;
            --depth;
        }
    }
    return edges;
}
