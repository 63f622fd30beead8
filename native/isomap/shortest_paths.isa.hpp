// Shortest paths from several sources at once.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

constexpr int lane_parts = lockstep / lanes;

#if defined(__GNUC__)
inline Lanes nearer(Lanes a, Lanes b) { return a < b ? a : b; }
#else
inline Lanes nearer(Lanes a, Lanes b) { return each([&](int l) { return a[l] < b[l] ? a[l] : b[l]; }); }
#endif

// Every node that a neighbour asks to, in the given order or against it, takes the shortest way over a neighbour, for all
// sources at once, and asks its own neighbours if that made a way shorter. Returns how many nodes were asked.
// An addition and a minimum round alike everywhere: no bit depends on the lanes.
std::int64_t relax_sweep(const LengthGraph& g, const std::int32_t* order, bool backwards, std::uint8_t* asked, float* reach) {
    constexpr unsigned all = (1u << lanes) - 1;
    std::int64_t visits = 0;
    for (std::int64_t step = 0; step < g.n; ++step) {
        const std::int64_t v = order[backwards ? g.n - 1 - step : step];
        if (!asked[v]) continue;
        asked[v] = 0;
        ++visits;
        float* own = reach + v * lockstep;
        Lanes best[lane_parts];
        for (int p = 0; p < lane_parts; ++p) best[p] = load(own + p * lanes);
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) {
            const float* other = reach + static_cast<std::int64_t>(g.columns[e]) * lockstep;
            const Lanes length = spread(g.lengths[e]);
            for (int p = 0; p < lane_parts; ++p) best[p] = nearer(load(other + p * lanes) + length, best[p]);
        }
        bool changed = false;
        for (int p = 0; p < lane_parts; ++p) {
            changed = changed || at_most(load(own + p * lanes), best[p]) != all;
            store(own + p * lanes, best[p]);
        }
        if (!changed) continue;
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) asked[g.columns[e]] = 1;
    }
    return visits;
}
