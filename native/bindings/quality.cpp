#include <algorithm>
#include <cmath>

#include "bindings/run.hpp"
#include "quality/compare_ranks.hpp"
#include "quality/group_distortions.hpp"
#include "quality/hdbscan.hpp"
#include "quality/inversions.hpp"
#include "quality/rank_correlation.hpp"
#include "quality/rank_rows.hpp"

namespace {

using Ranks = Dense<const std::int32_t>;

template <class T>
void rank_rows(const Dense<const T>& distances, const Ids& own, const Dense<std::int32_t>& ranks, const Dense<std::int32_t>& nearest,
               int threads) {
    const std::size_t b = distances.shape(0), n = distances.shape(1);
    require(same_shape(ranks, distances), "ranks must have the shape of the distances");
    require(own.shape(0) == b && nearest.shape(0) == b, "own and nearest must have one entry per row");
    require(nearest.shape(1) < std::max<std::size_t>(n, 1), "there must be fewer neighbors than rows");
    require_below(own, n);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::rank_rows(distances.data(), own.data(), b, n, nearest.shape(1), ranks.data(), nearest.data(), team);
    });
}

void compare_ranks(const Ranks& ranks, const Ranks& drawn, const Vector<const double>& weights, const Vector<const std::int64_t>& ks, int k,
                   const Dense<double>& sums, const Dense<std::int64_t>& counts, int threads) {
    const std::size_t b = ranks.shape(0), n = ranks.shape(1), g = ks.shape(0);
    require(same_shape(ranks, drawn), "the ranks of both spaces must have the same shape");
    require(weights.shape(0) == n, "there must be a weight per rank");
    require(sums.shape(0) == b && sums.shape(1) == lowdim::rank_sums, "sums must have six columns, and a row per row of ranks");
    require(counts.shape(0) == b && counts.shape(1) == g, "counts must have a column per number of neighbors");
    require_below(ranks, n, threads);
    require_below(drawn, n, threads);
    require_below(ks, n);
    require(g == 0 || (ks(0) > 0 && std::is_sorted(ks.data(), ks.data() + g)), "the numbers of neighbors must ascend from 1");
    const lowdim::RankWeights scale{static_cast<std::int64_t>(n), k, weights.data(), ks.data(), static_cast<std::int64_t>(g)};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::compare_ranks(ranks.data(), drawn.data(), b, scale, sums.data(), counts.data(), team);
    });
}

template <class T, class U>
void squared_sums(const Dense<const T>& distances, const Dense<const U>& drawn, const Ids& own, const Dense<double>& out, int threads) {
    const std::size_t b = distances.shape(0), n = distances.shape(1);
    require(same_shape(distances, drawn), "the distances of both spaces must have the same shape");
    require(own.shape(0) == b && out.shape(0) == b && out.shape(1) == 3, "own and out must have one row per row, and out three columns");
    require_below(own, n);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::squared_sums(distances.data(), drawn.data(), own.data(), b, n, out.data(), team);
    });
}

void concordance(const Ranks& ranks, const Ranks& drawn, const Vector<double>& out, int threads) {
    require(same_shape(ranks, drawn) && out.shape(0) == ranks.shape(0), "both spaces must have the same shape, and out an entry per row");
    require_below(ranks, ranks.shape(1), threads);
    require_below(drawn, ranks.shape(1), threads);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::concordance(ranks.data(), drawn.data(), ranks.shape(0), ranks.shape(1), out.data(), team);
    });
}

void partner_concordance(const Ranks& ranks, const Ranks& drawn, const Ranks& partners, const Vector<double>& out, int threads) {
    const std::size_t b = ranks.shape(0), n = ranks.shape(1);
    require(same_shape(ranks, drawn) && out.shape(0) == b, "both spaces must have the same shape, and out an entry per row");
    require(partners.shape(0) == b, "there must be partners for every row");
    require_below(ranks, n, threads);
    require_below(drawn, n, threads);
    require_below(partners, n, threads);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::partner_concordance(ranks.data(), drawn.data(), partners.data(), b, n, partners.shape(1), out.data(), team);
    });
}

void rank_correlations(const Ids& rows, const Ids& first, const Ids& second, const Dense<const double>& weights, const Vector<double>& out,
                       int threads) {
    require(same_shape(rows, first) && same_shape(rows, second), "every pair must have a row and two groups");
    require(out.shape(0) == weights.shape(0), "out must have an entry per set of weights");
    const std::size_t count = rows.shape(0);
    require_below(rows, weights.shape(1), threads);
    require_below(first, count, threads);
    require_below(second, count, threads);
    const auto groups = [&](const Ids& of) { return count == 0 ? 0 : *std::max_element(of.data(), of.data() + count) + 1; };
    const lowdim::OrderedPairs pairs{rows.data(),   first.data(), second.data(), static_cast<std::int64_t>(count),
                                     groups(first), groups(second)};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::rank_correlations(pairs, weights.data(), weights.shape(0), weights.shape(1), out.data(), team);
    });
}

void group_distortions(const Dense<const float>& walked, const Dense<const float>& clustered, const Ranks& neighbors, std::int64_t visits,
                       double alpha, double worst, std::uint64_t seed, const Dense<double>& numerators, const Dense<double>& denominators,
                       int threads) {
    const std::size_t m = walked.shape(0);
    require(m > 0, "there must be rows");
    require(walked.shape(1) == m && same_shape(walked, clustered), "the similarities of both spaces must be square and alike");
    require(neighbors.shape(0) == m, "there must be neighbors of every row");
    require(numerators.shape(1) == m && same_shape(numerators, denominators), "numerators and denominators must have a column per row");
    require(alpha > 0 && worst > 0, "alpha and worst must be positive");
    require_below(neighbors, m, threads);
    const lowdim::TwoSpaces spaces{walked.data(), clustered.data(), neighbors.data(), static_cast<std::int64_t>(m),
                                   static_cast<std::int64_t>(neighbors.shape(1)), visits, alpha, worst, seed};
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::group_distortions(spaces, numerators.shape(0), numerators.data(), denominators.data(), team);
    });
}

int hdbscan(const Dense<const float>& distances, const Vector<std::int32_t>& labels) {
    const std::size_t p = distances.shape(0);
    require(distances.shape(1) == p && labels.shape(0) == p, "distances must be square, and labels have an entry per row");
    require(std::none_of(distances.data(), distances.data() + p * p, [](float value) { return std::isnan(value); }),
            "distances must be numbers");  // NaN has no order, which sorting needs
    int found = 0;
    run(1, [&](const lowdim::ThreadTeam&) {
        lowdim::Hdbscan clusterer;
        found = clusterer.cluster(distances.data(), static_cast<std::int32_t>(p), labels.data());
    });
    return found;
}

template <class T>
void bind_distances(nb::module_& m) {
    m.def("rank_rows", &rank_rows<T>, "distances"_a.noconvert(), "own"_a.noconvert(), "ranks"_a.noconvert(), "nearest"_a.noconvert(),
          "threads"_a, "Ranks of all rows by their distances from the rows `own`, ties by number, and the nearest ones.");
    const char* doc = "Sums of d², d δ and δ² over all but the row itself.";
    m.def("squared_sums", &squared_sums<T, float>, "distances"_a.noconvert(), "drawn"_a.noconvert(), "own"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, doc);
    m.def("squared_sums", &squared_sums<T, double>, "distances"_a.noconvert(), "drawn"_a.noconvert(), "own"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, doc);
}

}  // namespace

void bind_quality(nb::module_& m) {
    bind_distances<float>(m);
    bind_distances<double>(m);
    m.def("compare_ranks", &compare_ranks, "ranks"_a.noconvert(), "drawn"_a.noconvert(), "weights"_a.noconvert(), "ks"_a.noconvert(), "k"_a,
          "sums"_a.noconvert(), "counts"_a.noconvert(), "threads"_a, "Sums over the neighbors of each row, and how many both spaces share.");
    m.def("concordance", &concordance, "ranks"_a.noconvert(), "drawn"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "The share of pairs of others that both spaces order alike.");
    m.def("partner_concordance", &partner_concordance, "ranks"_a.noconvert(), "drawn"_a.noconvert(), "partners"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "The share of pairs of partners that both spaces order alike.");
    m.def("rank_correlations", &rank_correlations, "rows"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(),
          "weights"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "Spearman's correlation of pairs, by the weights of their rows.");
    m.def("group_distortions", &group_distortions, "walked"_a.noconvert(), "clustered"_a.noconvert(), "neighbors"_a.noconvert(), "visits"_a,
          "alpha"_a, "worst"_a, "seed"_a, "numerators"_a.noconvert(), "denominators"_a.noconvert(), "threads"_a,
          "Distortions between the clusters of groups that random walks find, per walk and row.");
    m.def("hdbscan", &hdbscan, "distances"_a.noconvert(), "labels"_a.noconvert(),
          "HDBSCAN* of a table of distances; returns the number of clusters.");
}
