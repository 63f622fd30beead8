// Shortest paths from a batch of sources at once.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr int vectors_per_node = batch_sources / lanes;

#if defined(__GNUC__)
inline Floats vmin(Floats a, Floats b) { return a < b ? a : b; }
#else
inline Floats vmin(Floats a, Floats b) {
    return each([&](int l) { return a[l] < b[l] ? a[l] : b[l]; });
}
#endif

// One relaxation sweep, in the given order or its reverse: every active node relaxes its edges for all sources, and activates
// its neighbors if a distance decreased. Returns the number of active nodes visited.
// Additions and minima round the same way everywhere, so no bit depends on the vector width.
std::int64_t relax_sweep(const WeightedGraph& g, const std::int32_t* order, bool backwards, std::uint8_t* active, float* distances) {
    constexpr unsigned all = (1u << lanes) - 1;
    std::int64_t visits = 0;
    for (std::int64_t step = 0; step < g.n; ++step) {
        const std::int64_t v = order[backwards ? g.n - 1 - step : step];
        if (!active[v]) continue;
        active[v] = 0;
        ++visits;
        float* own = distances + v * batch_sources;
        Floats best[vectors_per_node];
        for (int p = 0; p < vectors_per_node; ++p) best[p] = load(own + p * lanes);
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) {
            const float* other = distances + static_cast<std::int64_t>(g.columns[e]) * batch_sources;
            const Floats length = broadcast(g.lengths[e]);
            for (int p = 0; p < vectors_per_node; ++p) best[p] = vmin(load(other + p * lanes) + length, best[p]);
        }
        bool changed = false;
        for (int p = 0; p < vectors_per_node; ++p) {
            changed = changed || le_mask(load(own + p * lanes), best[p]) != all;
            store(own + p * lanes, best[p]);
        }
        if (!changed) continue;
        for (std::int64_t e = g.starts[v]; e < g.starts[v + 1]; ++e) active[g.columns[e]] = 1;
    }
    return visits;
}
