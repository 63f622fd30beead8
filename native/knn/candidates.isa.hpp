// Distances as sums over differences, for the few candidate pairs that need that accuracy.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

struct PairEuclidean {
    static void add(Floats& sum, Floats a, Floats b) {
        const Floats difference = a - b;
        sum += difference * difference;
    }
    static Floats combine(Floats a, Floats b) { return a + b; }
    static float total(Floats sum) { return reduce_sum(sum); }
};
struct PairManhattan {
    static void add(Floats& sum, Floats a, Floats b) { sum += vabs(a - b); }
    static Floats combine(Floats a, Floats b) { return a + b; }
    static float total(Floats sum) { return reduce_sum(sum); }
};
struct PairChebyshev {
    static void add(Floats& sum, Floats a, Floats b) { sum = vmax(sum, vabs(a - b)); }
    static Floats combine(Floats a, Floats b) { return vmax(a, b); }
    static float total(Floats sum) { return reduce_max(sum); }
};

// Asks for a row that will be read soon: rows of candidates lie anywhere, and the processor cannot guess where.
template <class T>
inline void prefetch_row(const T* row, std::int64_t columns) {
#if defined(__GNUC__)
    const std::int64_t bytes = std::min<std::int64_t>(columns * static_cast<std::int64_t>(sizeof(T)), 4096);
    for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
#endif
}

// The distance of one pair, in float32.
template <class Metric>
inline float row_distance(const float* a, const float* b, std::int64_t d) {
    const std::int64_t whole = d / lanes * lanes;
    Floats sum = broadcast(0), other = broadcast(0);
    std::int64_t c = 0;
    for (; c + lanes < whole; c += 2 * lanes) {
        Metric::add(sum, load(a + c), load(b + c));
        Metric::add(other, load(a + c + lanes), load(b + c + lanes));
    }
    if (c < whole) Metric::add(sum, load(a + c), load(b + c));
    if (whole < d) {
        float a_tail[lanes] = {}, b_tail[lanes] = {};
        std::copy(a + whole, a + d, a_tail);
        std::copy(b + whole, b + d, b_tail);
        Metric::add(other, load(a_tail), load(b_tail));
    }
    return Metric::total(Metric::combine(sum, other));
}

// The metrics that have no registers of their own.
template <int metric>
struct PairOf {
    static constexpr int kind = metric;
};

template <class Metric>
constexpr bool is_set_metric() {
    if constexpr (requires { Metric::kind; }) return compares_bits(Metric::kind);
    return false;
}

// The distance of one pair in the units of the search.
template <class Metric>
inline float search_distance(const float* a, const float* b, std::int64_t d, const float* params) {
    if constexpr (is_set_metric<Metric>()) {
        return words_distance<Metric::kind>(a, b, d / 2, params);
    } else if constexpr (requires { Metric::kind; }) {
        return pair_distance<Metric::kind, float>(a, b, d, params);
    } else {
        return row_distance<Metric>(a, b, d);
    }
}

// The sum of squared differences in double precision, in several registers, so that no addition waits for the one before.
template <class S, class T>
inline double squared_distance(const S* a, const T* b, std::int64_t d) {
    constexpr int width = wide_lanes<double>, chains = 4;
    Wide<double> sums[chains];
    for (auto& sum : sums) sum = wide_set<double>(0);
    std::int64_t c = 0;
    for (; c + chains * width <= d; c += chains * width) {
#pragma GCC unroll 4
        for (int i = 0; i < chains; ++i) {
            const Wide<double> difference = wide_doubles(a + c + i * width) - wide_doubles(b + c + i * width);
            sums[i] += difference * difference;
        }
    }
    double tail = 0;
    for (; c < d; ++c) {
        const double difference = static_cast<double>(a[c]) - static_cast<double>(b[c]);
        tail += difference * difference;
    }
    return wide_sum<double>((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail;
}

// The distance of one pair in double precision, whatever the type of the rows.
template <class T>
inline double exact_distance(const T* a, const T* b, std::int64_t d, const MetricForm<T>& form) {
    const int metric = form.metric;
    if (metric == metric_minkowski) return pair_distance<metric_minkowski, double>(a, b, d, form.params);
    if (metric == metric_canberra) return pair_distance<metric_canberra, double>(a, b, d, form.params);
    if (metric == metric_braycurtis) return pair_distance<metric_braycurtis, double>(a, b, d, form.params);
    if (metric == metric_differing) return pair_distance<metric_differing, double>(a, b, d, form.params);
    if (metric == metric_gower) return pair_distance<metric_gower, double>(a, b, d, form.params);
    double sum = 0;
    if (metric == metric_chebyshev) {
        for (std::int64_t j = 0; j < d; ++j) {
            const double difference = std::fabs(static_cast<double>(a[j]) - static_cast<double>(b[j]));
            sum = difference > sum ? difference : sum;
        }
    } else if (metric == metric_manhattan) {
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < d; ++j) sum += std::fabs(static_cast<double>(a[j]) - static_cast<double>(b[j]));
    } else {
        sum = squared_distance(a, b, d);
    }
    return sum;
}

constexpr std::int64_t most_widened = 1024;  // columns

// The k nearest to `row` among the candidates, measured in double precision and rounded once at the end. Ties after
// rounding are broken by index, so noise far below float32 never decides an order.
template <class T>
void refine(const T* row, const RowBlock<T>& x, const Candidates& candidates, const MetricForm<T>& measure, const NeighborLists& out,
            std::int64_t slot) {
    float* distances = out.distances + slot * out.k;
    std::int32_t* indices = out.indices + slot * out.k;
    std::fill(distances, distances + out.k, HUGE_VALF);
    std::fill(indices, indices + out.k, empty_index);
    double widened[most_widened];  // the row, converted once for all candidates
    const bool widen = measure.metric == metric_squared_euclidean && x.columns <= most_widened;
    if (widen) std::copy(row, row + x.columns, widened);
    for (std::int64_t c = 0; c < candidates.count; ++c) {
        const std::int32_t other = candidates.rows == nullptr ? static_cast<std::int32_t>(c) : candidates.rows[c];
        if (candidates.rows != nullptr && c + 1 < candidates.count && candidates.rows[c + 1] != empty_index)
            prefetch_row(x.row(candidates.rows[c + 1]), x.columns);
        if (other == candidates.self || other == empty_index) continue;
        const double sum = widen ? squared_distance(widened, x.row(other), x.columns) : exact_distance(row, x.row(other), x.columns, measure);
        const double distance = reported_distance(sum, measure.root, measure.scale);
        insert_neighbor(distances, indices, out.k, static_cast<float>(distance), other);
    }
}

// The same in float32 and in the units of the search: sums over columns, not yet distances.
template <class Metric>
void score_row(const MetricRows& x, std::int64_t row, const std::int32_t* candidates, std::int64_t count, const NeighborLists& out) {
    float* distances = out.distances + row * out.k;
    std::int32_t* indices = out.indices + row * out.k;
    for (std::int64_t c = 0; c < count; ++c) {
        if (c + 1 < count && candidates[c + 1] != empty_index) prefetch_row(x.row(candidates[c + 1]), x.columns);
        if (candidates[c] != empty_index)
            insert_neighbor(distances, indices, out.k, search_distance<Metric>(x.row(row), x.row(candidates[c]), x.columns, x.params),
                            candidates[c]);
    }
}

// Best-first graph search from the entries of a query's list, until every entry has been expanded. `visited` is a hash
// table whose size is a power of two; it is all `empty_index` on entry and again on return.
template <class Metric>
void graph_search(const MetricRows& x, const float* query, const GraphSearch& graph, const NeighborLists& lists, std::int64_t slot,
                  std::uint8_t* expanded, std::int32_t* visited) {
    const std::int64_t k = lists.k;
    float* distances = lists.distances + slot * k;
    std::int32_t* indices = lists.indices + slot * k;
    const std::int64_t mask = graph.visited_size - 1;
    std::int64_t visited_count = 0;
    const auto first_visit = [&](std::int32_t row) {
        std::int64_t at = static_cast<std::int64_t>(static_cast<std::uint32_t>(row) * 2654435761u) & mask;
        for (; visited[at] != empty_index; at = (at + 1) & mask)
            if (visited[at] == row) return false;
        visited[at] = row;
        ++visited_count;
        return true;
    };
    std::fill(expanded, expanded + k, std::uint8_t{0});
    for (std::int64_t j = 0; j < k; ++j)
        if (indices[j] != empty_index) first_visit(indices[j]);
    for (std::int64_t j = 0; j < k;) {
        if (expanded[j] || indices[j] == empty_index) {
            ++j;
            continue;
        }
        expanded[j] = 1;
        const std::int32_t* next = graph.indices + static_cast<std::int64_t>(indices[j]) * graph.k;
        std::int64_t nearest = k;
        for (std::int64_t t = 0; t < graph.k && 2 * visited_count < graph.visited_size; ++t) {
            if (!first_visit(next[t])) continue;
            const float distance = search_distance<Metric>(query, x.row(next[t]), x.columns, x.params);
            const std::int64_t position = insert_neighbor(distances, indices, k, distance, next[t]);
            if (position < 0) continue;
            for (std::int64_t m = k - 1; m > position; --m) expanded[m] = expanded[m - 1];
            expanded[position] = 0;
            nearest = position < nearest ? position : nearest;
        }
        j = nearest < j ? nearest : j;  // return to the nearest new entry
    }
    std::fill(visited, visited + graph.visited_size, empty_index);
}
