#include "subspace/grid_units.hpp"

#include "bindings/run.hpp"

namespace {

using Words = Dense<const std::uint64_t>;

lowdim::Bitmaps bitmaps_of(const Words& bitmaps) {
    return {bitmaps.data(), static_cast<std::int64_t>(bitmaps.shape(0)), static_cast<std::int64_t>(bitmaps.shape(1))};
}

void require_units(const Words& bitmaps, const Dense<const std::int32_t>& units, int threads) {
    require(units.shape(1) >= 1, "a unit has at least one interval");
    require_below(units, bitmaps.shape(0), threads, "a unit names an interval that is not there");
}

void interval_bitmaps(const Dense<const std::int16_t>& codes, const Ids& starts, std::int64_t first, const Dense<std::uint64_t>& bitmaps,
                      int threads) {
    const auto columns = codes.shape(0), rows = codes.shape(1);
    require_span(starts, columns, bitmaps.shape(0));
    require(first >= 0 && static_cast<std::size_t>(first) + rows <= 64 * bitmaps.shape(1), "the rows are beyond the bitmaps");
    for (std::size_t j = 0; j < columns; ++j)
        require(all_below(codes.data() + j * rows, static_cast<std::int64_t>(rows), static_cast<std::size_t>(starts(j + 1) - starts(j))),
                "a code is beyond the intervals of its column");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::set_interval_bits(codes.data(), static_cast<std::int64_t>(columns), static_cast<std::int64_t>(rows), starts.data(), first,
                                  bitmaps.data(), static_cast<std::int64_t>(bitmaps.shape(1)), team);
    });
}

void unit_supports(const Words& bitmaps, const Dense<const std::int32_t>& units, const Vector<std::int64_t>& supports, int threads) {
    require_units(bitmaps, units, threads);
    require(supports.shape(0) == units.shape(0), "supports must have one entry per unit");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::count_units(bitmaps_of(bitmaps), units.data(), static_cast<std::int64_t>(units.shape(0)),
                            static_cast<std::int64_t>(units.shape(1)), supports.data(), team);
    });
}

void unit_rows(const Words& bitmaps, const Dense<const std::int32_t>& units, const Vector<std::uint64_t>& out, int threads) {
    require_units(bitmaps, units, threads);
    require(out.shape(0) == bitmaps.shape(1), "out must have one entry per word of a bitmap");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::unite_rows(bitmaps_of(bitmaps), units.data(), static_cast<std::int64_t>(units.shape(0)),
                           static_cast<std::int64_t>(units.shape(1)), out.data(), team);
    });
}

}  // namespace

void bind_subspace(nb::module_& m) {
    m.def("interval_bitmaps", &interval_bitmaps, "codes"_a.noconvert(), "starts"_a.noconvert(), "first"_a, "bitmaps"_a.noconvert(),
          "threads"_a, "Set the bits of rows first, first + 1, … in the bitmaps of the intervals that `codes` (columns, rows) name.");
    m.def("unit_supports", &unit_supports, "bitmaps"_a.noconvert(), "units"_a.noconvert(), "supports"_a.noconvert(), "threads"_a,
          "The number of rows in each unit, an intersection of intervals; units are quickest in lexicographic order.");
    m.def("unit_rows", &unit_rows, "bitmaps"_a.noconvert(), "units"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
          "Add the rows of all units to a bitmap.");
}
