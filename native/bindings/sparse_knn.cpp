#include <memory>
#include <utility>
#include <variant>

#include "bindings/run.hpp"
#include "knn/sparse_inverted_index.hpp"

namespace {

using Numbers = Vector<const double>;

// A private copy of sparse rows, checked once: nobody can change what was checked.
template <class T>
lowdim::SparseTable<T> table_of(const Starts& starts, const Ids& columns, const Vector<const T>& values, const Numbers& factors,
                                const Numbers& offsets, std::size_t bound, int threads) {
    lowdim::SparseTable<T> out;
    out.starts.assign(starts.data(), starts.data() + starts.size());
    out.columns.assign(columns.data(), columns.data() + columns.size());
    out.values.assign(values.data(), values.data() + values.size());
    out.factors.assign(factors.data(), factors.data() + factors.size());
    out.offsets.assign(offsets.data(), offsets.data() + offsets.size());
    require(!out.starts.empty(), "there must be one more start than rows");
    const std::size_t rows = out.starts.size() - 1;
    require(out.columns.size() == out.values.size(), "not compressed sparse rows: every column needs a value");
    require(out.factors.size() == rows && out.offsets.size() == rows, "there must be a factor and an offset for every row");
    require(rows < static_cast<std::size_t>(lowdim::empty_index), "there are too many rows for 32-bit indices");
    require_span(out.starts, rows, out.columns.size());
    require_below(out.columns, bound, threads);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::int64_t p = out.starts[i] + 1; p < out.starts[i + 1]; ++p)
            require(out.columns[p - 1] < out.columns[p], "the columns of a row must ascend");
    return out;
}

lowdim::SparseMeasure measure_of(int metric, int root, double scale, std::int64_t columns) {
    const bool known = metric == lowdim::metric_squared_euclidean || metric == lowdim::metric_manhattan;
    require(known || lowdim::compares_bits(metric), "there is no such metric of sparse rows");
    require(root == lowdim::root_none || root == lowdim::root_square, "there is no such root");
    require(columns >= 1 && scale > 0, "there must be columns, and a positive scale");
    return {metric, root, scale, static_cast<double>(columns)};
}

// The index of rows of either precision.
class SparseIndex {
  public:
    template <class T>
    using Of = std::unique_ptr<lowdim::InvertedIndex<T>>;

    template <class T>
    SparseIndex(const Starts& starts, const Ids& columns, const Vector<const T>& values, const Numbers& factors, const Numbers& offsets,
                std::int64_t bound, int metric, int root, double scale, std::int64_t width, int threads) {
        require(bound >= 1 && bound <= lowdim::empty_index, "there must be columns, and no more than 32-bit indices reach");
        const auto measure = measure_of(metric, root, scale, width);
        auto table = table_of<T>(starts, columns, values, factors, offsets, static_cast<std::size_t>(bound), threads);
        run(threads, [&](const lowdim::ThreadTeam& team) {
            index_ = std::make_unique<lowdim::InvertedIndex<T>>(std::move(table), bound, measure, team);
        });
    }

    std::int64_t round_count() const {
        return std::visit([](const auto& index) { return index->round_count(); }, index_);
    }

    void all_pairs_round(std::int64_t round, const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads) const {
        require(round >= 0 && round < round_count(), "there is no such round");
        std::visit(
            [&](const auto& index) {
                const auto lists = lists_of(distances, indices, index->rows());
                run(threads, [&](const lowdim::ThreadTeam& team) { index->all_pairs_round(round, lists, team); });
            },
            index_);
    }

    template <class T>
    void queries(const Starts& starts, const Ids& columns, const Vector<const T>& values, const Numbers& factors, const Numbers& offsets,
                 std::optional<Ids> self_ids, const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads) const {
        require(std::holds_alternative<Of<T>>(index_), "queries must have the type of the rows");
        const auto& index = *std::get<Of<T>>(index_);
        auto table = table_of<T>(starts, columns, values, factors, offsets, lowdim::empty_index, threads);
        const auto* self_data = data_or_null(self_ids, starts.size() - 1, "self_ids must have one entry per query");
        const auto lists = lists_of(distances, indices, table.rows());
        run(threads, [&](const lowdim::ThreadTeam& team) {
            table.measure(index.measure().metric);
            index.queries(table, self_data, lists, team);
        });
    }

  private:
    static lowdim::NeighborLists lists_of(const Dense<float>& distances, const Dense<std::int32_t>& indices, std::int64_t rows) {
        require(same_shape(distances, indices) && distances.shape(0) == static_cast<std::size_t>(rows) && distances.shape(1) >= 1,
                "the lists must have one row per row of the data, and the same width, at least 1");
        return {distances.data(), indices.data(), static_cast<std::int64_t>(distances.shape(1))};
    }

    std::variant<Of<float>, Of<double>> index_;
};

template <class T>
void bind_precision(nb::class_<SparseIndex>& cls, nb::module_& m) {
    cls.def(nb::init<const Starts&, const Ids&, const Vector<const T>&, const Numbers&, const Numbers&, std::int64_t, int, int, double,
                     std::int64_t, int>(),
            "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "factors"_a.noconvert(), "offsets"_a.noconvert(),
            "bound"_a, "metric"_a, "root"_a, "scale"_a, "width"_a, "threads"_a);
    m.def(
        "sparse_queries",
        [](const SparseIndex& index, const Starts& starts, const Ids& columns, const Vector<const T>& values, const Numbers& factors,
           const Numbers& offsets, std::optional<Ids> self_ids, const Dense<float>& distances, const Dense<std::int32_t>& indices,
           int threads) { index.queries<T>(starts, columns, values, factors, offsets, self_ids, distances, indices, threads); },
        "index"_a, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "factors"_a.noconvert(),
        "offsets"_a.noconvert(), "self_ids"_a.none(), "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
        "Exact search: the nearest rows of the index to every query, into the lists; the row self_ids[query] is excluded.");
}

}  // namespace

void bind_sparse_knn(nb::module_& m) {
    nb::class_<SparseIndex> cls(m, "InvertedIndex",
                                "The rows of each column of sparse rows, in a private copy, and the measure that compares them.\n\n"
                                "Rows are scaled by factors; offsets are the means that correlations subtract, times the root of width.");
    bind_precision<float>(cls, m);
    bind_precision<double>(cls, m);
    cls.def_prop_ro("round_count", &SparseIndex::round_count, "The number of rounds that compare all pairs.");
    m.def(
        "sparse_all_pairs_round",
        [](const SparseIndex& index, std::int64_t round, const Dense<float>& distances, const Dense<std::int32_t>& indices, int threads) {
            index.all_pairs_round(round, distances, indices, threads);
        },
        "index"_a, "round"_a, "distances"_a.noconvert(), "indices"_a.noconvert(), "threads"_a,
        "One round of exact all-pairs search of sparse rows, into the lists.");
}
