// Isotonic regression of a short run of values, as the lower convex hull of their running sums: its edges are the
// pools. Splitting at the point farthest below a chord keeps to long loops without branches, where pooling one value
// after another guesses wrong at every second one.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

// sums and mass, (count + 1,), run from 0. Returns how many edges there are; ends[e] is behind edge e.
inline int hull_edges(const double* sums, const double* mass, int count, std::int32_t* ends) {
    std::int32_t waiting[hull_run + 1];  // right ends of chords still to be looked at, the next one last
    double below[hull_run + 1];
    int edges = 0, depth = 0, left = 0;
    waiting[depth++] = count;
    while (depth > 0) {
        const int right = waiting[depth - 1];
        const double width = mass[right] - mass[left];
        double deepest = 0;
        if (right - left > 1 && width > 0) {
            const double slope = (sums[right] - sums[left]) / width;
            double least[8] = {};  // side by side: a minimum of floats is no reduction to a compiler that respects NaN
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
            for (int l = 0; l < 8; ++l) deepest = least[l] < deepest ? least[l] : deepest;
        }
        if (deepest < 0) {
            int i = left + 1;
            for (; i + 8 <= right; i += 8) {
                int here = 0;
#pragma omp simd reduction(| : here)
                for (int l = 0; l < 8; ++l) here |= below[i + l] == deepest;
                if (here) break;
            }
            while (below[i] != deepest) ++i;
            waiting[depth++] = i;
        } else {
            ends[edges++] = right;
            left = right;
            --depth;
        }
    }
    return edges;
}
