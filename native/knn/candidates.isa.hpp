// Distances as sums over the differences themselves, for the few pairs that are worth it.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

struct SquaredDifferences {
    static void add(Lanes& sum, Lanes a, Lanes b) {
        const Lanes difference = a - b;
        sum += difference * difference;
    }
    static Lanes both(Lanes a, Lanes b) { return a + b; }
    static float total(Lanes sum) { return sum_of(sum); }
};
struct AbsoluteDifferences {
    static void add(Lanes& sum, Lanes a, Lanes b) { sum += magnitude(a - b); }
    static Lanes both(Lanes a, Lanes b) { return a + b; }
    static float total(Lanes sum) { return sum_of(sum); }
};
struct LargestDifference {
    static void add(Lanes& sum, Lanes a, Lanes b) { sum = larger(sum, magnitude(a - b)); }
    static Lanes both(Lanes a, Lanes b) { return larger(a, b); }
    static float total(Lanes sum) { return largest_of(sum); }
};

// One pair, in float32.
template <class Metric>
inline float row_distance(const float* a, const float* b, std::int64_t d) {
    const std::int64_t whole = d / lanes * lanes;
    Lanes sum = spread(0), other = spread(0);
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
    return Metric::total(Metric::both(sum, other));
}

// The distance of one pair in double precision, whatever the rows are held in.
template <class T>
inline double exact_distance(const T* a, const T* b, std::int64_t d, int metric) {
    double sum = 0;
    if (metric == metric_largest) {
        for (std::int64_t j = 0; j < d; ++j) {
            const double difference = std::fabs(static_cast<double>(a[j]) - static_cast<double>(b[j]));
            sum = difference > sum ? difference : sum;
        }
    } else if (metric == metric_magnitudes) {
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < d; ++j) sum += std::fabs(static_cast<double>(a[j]) - static_cast<double>(b[j]));
    } else {
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < d; ++j) {
            const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
            sum += difference * difference;
        }
    }
    return sum;
}

// The k nearest to `row` among the candidates, measured in double precision and rounded once, at the end. Equal
// rounded distances go by index, so noise far below float32 never decides an order.
template <class T>
void refine(const T* row, const RowBlock<T>& x, const Candidates& candidates, const Measure& measure,
            const NeighborLists& out, std::int64_t slot) {
    float* distances = out.distances + slot * out.k;
    std::int32_t* indices = out.indices + slot * out.k;
    std::fill(distances, distances + out.k, HUGE_VALF);
    std::fill(indices, indices + out.k, nobody);
    for (std::int64_t c = 0; c < candidates.count; ++c) {
        const std::int32_t other = candidates.rows == nullptr ? static_cast<std::int32_t>(c) : candidates.rows[c];
        if (other == candidates.self || other == nobody) continue;
        const double raw = exact_distance(row, x.row(other), x.columns, measure.metric);
        const double distance = measure.scale * (measure.root ? std::sqrt(raw) : raw);
        insert(distances, indices, out.k, static_cast<float>(distance), other);
    }
}

// The same in float32 and as the search sees them: sums over columns, not yet distances.
template <class Metric>
void remeasure(const RowBlock<float>& x, std::int64_t row, const std::int32_t* candidates, std::int64_t count,
               const NeighborLists& out) {
    float* distances = out.distances + row * out.k;
    std::int32_t* indices = out.indices + row * out.k;
    for (std::int64_t c = 0; c < count; ++c)
        if (candidates[c] != nobody)
            insert(distances, indices, out.k, row_distance<Metric>(x.row(row), x.row(candidates[c]), x.columns), candidates[c]);
}

// Walks the graph from the entries of a query's list towards it, nearest first, until every entry has been asked
// for its neighbours. `seen` holds a power of two of places, all `nobody` at the start and again at the end.
template <class Metric>
void walk(const RowBlock<float>& x, const float* query, const Walk& graph, const NeighborLists& lists, std::int64_t slot,
          std::uint8_t* asked, std::int32_t* seen) {
    const std::int64_t k = lists.k;
    float* distances = lists.distances + slot * k;
    std::int32_t* indices = lists.indices + slot * k;
    const std::int64_t mask = graph.seen_size - 1;
    std::int64_t met = 0;
    const auto first_time = [&](std::int32_t row) {
        std::int64_t at = static_cast<std::int64_t>(static_cast<std::uint32_t>(row) * 2654435761u) & mask;
        for (; seen[at] != nobody; at = (at + 1) & mask)
            if (seen[at] == row) return false;
        seen[at] = row;
        ++met;
        return true;
    };
    std::fill(asked, asked + k, std::uint8_t{0});
    for (std::int64_t j = 0; j < k; ++j)
        if (indices[j] != nobody) first_time(indices[j]);
    for (std::int64_t j = 0; j < k;) {
        if (asked[j] || indices[j] == nobody) {
            ++j;
            continue;
        }
        asked[j] = 1;
        const std::int32_t* next = graph.indices + static_cast<std::int64_t>(indices[j]) * graph.k;
        std::int64_t nearest = k;
        for (std::int64_t t = 0; t < graph.k && 2 * met < graph.seen_size; ++t) {
            if (!first_time(next[t])) continue;
            const float distance = row_distance<Metric>(query, x.row(next[t]), x.columns);
            const std::int64_t place = insert(distances, indices, k, distance, next[t]);
            if (place < 0) continue;
            for (std::int64_t m = k - 1; m > place; --m) asked[m] = asked[m - 1];
            asked[place] = 0;
            nearest = place < nearest ? place : nearest;
        }
        j = nearest < j ? nearest : j;  // go back to the nearest entry that is new
    }
    std::fill(seen, seen + graph.seen_size, nobody);
}
