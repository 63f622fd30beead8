#include "bindings/run.hpp"
#include "select/neighbor_counts.hpp"

namespace {

using Column = Vector<const double>;

// Throws unless `order` has the rows in ascending order of their values, none of which is NaN.
void require_order(const Column& x, const Ids& order) {
    const std::size_t n = x.shape(0);
    require(order.shape(0) == n, "there must be a place in the order for every row");
    require_below(order, n);
    std::vector<bool> seen(n);
    bool ascending = true;
    for (std::size_t i = 0; i < n; ++i) {
        ascending &= !seen[order(i)] && x(order(i)) >= x(order(i > 0 ? i - 1 : 0));
        seen[order(i)] = true;
    }
    require(ascending, "the order must have every row once, ascending");
}

void ksg_counts(const Column& x, const Column& y, const Ids& order_x, const Ids& order_y, std::int64_t k,
                const Vector<std::int32_t>& closer_x, const Vector<std::int32_t>& closer_y, int threads) {
    const std::size_t n = x.shape(0);
    require(y.shape(0) == n && closer_x.shape(0) == n && closer_y.shape(0) == n, "all columns must have the same rows");
    require(k >= 1 && static_cast<std::uint64_t>(k) < n, "k must be at least 1, and less than the number of rows");
    require_order(x, order_x);
    require_order(y, order_y);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::ksg_counts(x.data(), y.data(), order_x.data(), order_y.data(), static_cast<std::int64_t>(n), k, closer_x.data(),
                           closer_y.data(), team);
    });
}

void ross_counts(const Column& x, const Ids& order, const Ids& codes, std::int64_t classes, std::int64_t k,
                 const Vector<std::int32_t>& closer, int threads) {
    const std::size_t n = x.shape(0);
    require(codes.shape(0) == n && closer.shape(0) == n, "all columns must have the same rows");
    require(k >= 1, "k must be at least 1");
    require(classes >= 1 && static_cast<std::uint64_t>(classes) <= n, "there must be 1 … n classes");
    require_below(codes, static_cast<std::size_t>(classes));
    require_order(x, order);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::ross_counts(x.data(), order.data(), codes.data(), classes, static_cast<std::int64_t>(n), k, closer.data(), team);
    });
}

}  // namespace

void bind_select(nb::module_& m) {
    m.def("ksg_counts", &ksg_counts, "x"_a.noconvert(), "y"_a.noconvert(), "order_x"_a.noconvert(), "order_y"_a.noconvert(), "k"_a,
          "closer_x"_a.noconvert(), "closer_y"_a.noconvert(), "threads"_a,
          "Rows closer in x, and in y, than the k-th neighbor in the maximum norm of both, each row itself included.");
    m.def("ross_counts", &ross_counts, "x"_a.noconvert(), "order"_a.noconvert(), "codes"_a.noconvert(), "classes"_a, "k"_a,
          "closer"_a.noconvert(), "threads"_a,
          "Rows closer than the k-th neighbor of the same class, each row itself included.");
}
