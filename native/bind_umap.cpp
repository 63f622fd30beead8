#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "fuzzy.hpp"
#include "joint.hpp"
#include "random.hpp"
#include "team.hpp"

namespace {

using Starts = Vector<const std::int64_t>;
using Ids = Vector<const std::int32_t>;

constexpr std::int64_t rows_a_task = 128;

// Runs with the GIL released, and raises what Ctrl-C left behind.
template <class Work>
void run(const Work& work) {
    lowdim::Stop stop(signals_pending, nullptr);
    {
        nb::gil_scoped_release free;
        work(stop);
    }
    rethrow_if_stopped(stop);
}

// body(first, last) for all rows, in pieces that do not depend on the threads.
template <class Body>
void over_rows(std::int64_t n, std::int64_t piece, int threads, lowdim::Stop& stop, const Body& body) {
    lowdim::parallel_blocks((n + piece - 1) / piece, threads, stop,
                            [&](std::int64_t block) { body(block * piece, std::min(n, (block + 1) * piece)); });
}

// Checks compressed rows; returns the most entries of a row.
std::int64_t require_rows(const Starts& starts, std::size_t rows, const Ids& columns, std::size_t width) {
    require(starts.shape(0) == rows + 1 && starts(0) == 0, "starts must have one entry more than there are rows");
    std::int64_t most = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        require(starts(i) <= starts(i + 1), "the starts of the rows are out of order");
        most = std::max(most, starts(i + 1) - starts(i));
    }
    require(static_cast<std::size_t>(starts(rows)) == columns.shape(0), "starts must span the columns");
    for (std::size_t p = 0; p < columns.shape(0); ++p)
        require(columns(p) >= 0 && static_cast<std::size_t>(columns(p)) < width, "a column is out of range");
    return most;
}

void smooth_neighbors(const Dense<const float>& distances, double target, double local_connectivity, const Vector<float>& cores,
                      const Vector<float>& widths, const Dense<float>& weights, int threads) {
    const std::size_t n = distances.shape(0), k = distances.shape(1);
    require(cores.shape(0) == n && widths.shape(0) == n && weights.shape(0) == n && weights.shape(1) == k, "out must fit");
    const double sum = std::accumulate(distances.data(), distances.data() + n * k, 0.0);
    const double mean = n * k == 0 ? 0.0 : sum / (static_cast<double>(n) * static_cast<double>(k + 1));
    const lowdim::Neighborhoods all = {distances.data(), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k), target,
                                       local_connectivity, mean};
    run([&](lowdim::Stop& stop) {
        over_rows(all.n, 1024, threads, stop, [&](std::int64_t begin, std::int64_t end) {
            lowdim::smooth_rows(all, begin, end, cores.data(), widths.data(), weights.data());
        });
    });
}

nb::tuple symmetrize(const Starts& starts, const Ids& columns, const Vector<const float>& weights, const Vector<const float>& lengths,
                     double mix, int threads) {
    require(starts.shape(0) >= 1, "starts must have one entry more than there are rows");
    const std::size_t n = starts.shape(0) - 1, stored = columns.shape(0);
    require_rows(starts, n, columns, n);
    require(weights.shape(0) == stored && lengths.shape(0) == stored, "weights and lengths must fit the columns");
    std::vector<std::int64_t> new_starts;
    std::vector<std::int32_t> new_columns;
    std::vector<float> new_weights, new_lengths;
    run([&](lowdim::Stop& stop) {
        const auto view_of = [&](std::int64_t p) { return lowdim::Membership{weights.data()[p], lengths.data()[p]}; };
        const lowdim::BothWays<lowdim::Membership> views(starts.data(), columns.data(), static_cast<std::int64_t>(n), view_of, threads, stop);
        lowdim::join_rows(
            views, new_starts, new_columns, threads, stop,
            [&](const lowdim::Membership& own, const lowdim::Membership& back, lowdim::Membership& joined) {
                return lowdim::join_memberships(own, back, mix, joined);
            },
            [&](std::size_t count) { new_weights.resize(count), new_lengths.resize(count); },
            [&](std::int64_t at, const lowdim::Membership& edge) { new_weights[at] = edge.weight, new_lengths[at] = edge.length; });
    });
    return nb::make_tuple(array_of(std::move(new_starts)), array_of(std::move(new_columns)), array_of(std::move(new_weights)),
                          array_of(std::move(new_lengths)));
}

template <class T>
void mark_rows(const Dense<const T>& x, const Vector<std::uint64_t>& out, int threads) {
    require(out.shape(0) == x.shape(0), "out must have one entry a row");
    const auto d = static_cast<std::int64_t>(x.shape(1));
    run([&](lowdim::Stop& stop) {
        over_rows(static_cast<std::int64_t>(x.shape(0)), 256, threads, stop, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) out.data()[i] = lowdim::mark_of(x.data() + i * d, d);
        });
    });
}

template <class T, class I>
void mark_sparse_rows(const Vector<const I>& starts, const Vector<const I>& columns, const Vector<const T>& values,
                      const Vector<std::uint64_t>& out, int threads) {
    require(starts.shape(0) == out.shape(0) + 1 && columns.shape(0) == values.shape(0), "not compressed sparse rows");
    const auto stored = static_cast<std::int64_t>(values.shape(0));
    for (std::size_t i = 0; i < out.shape(0); ++i)
        require(0 <= starts(i) && starts(i) <= starts(i + 1) && static_cast<std::int64_t>(starts(i + 1)) <= stored,
                "the starts of the rows are out of order");
    run([&](lowdim::Stop& stop) {
        over_rows(static_cast<std::int64_t>(out.shape(0)), 256, threads, stop, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto first = static_cast<std::int64_t>(starts.data()[i]), last = static_cast<std::int64_t>(starts.data()[i + 1]);
                out.data()[i] = lowdim::mark_of(columns.data() + first, values.data() + first, last - first);
            }
        });
    });
}

template <class T, class I>
void bind_sparse_marks(nb::module_& m) {
    m.def("mark_sparse_rows", &mark_sparse_rows<T, I>, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "out"_a.noconvert(), "threads"_a, "The marks that these compressed rows would have as dense ones.");
}

// scale (S x) + shift x + back z into out.
void filter_step(const Starts& starts, const Ids& columns, const Vector<const float>& values, const Dense<const float>& x,
                 const Dense<const float>& z, const Dense<float>& out, float scale, float shift, float back, int threads) {
    const std::size_t n = x.shape(0), width = x.shape(1);
    require(width == 8 || width == 16 || width == 32, "a block must have 8, 16 or 32 vectors");
    require(z.shape(0) == n && out.shape(0) == n && z.shape(1) == width && out.shape(1) == width, "z and out must be as x");
    require(starts.shape(0) == n + 1 && static_cast<std::size_t>(starts(n)) == columns.shape(0) && values.shape(0) == columns.shape(0),
            "not compressed rows");
    const lowdim::FilterStep step = {starts.data(), columns.data(), values.data(), x.data(), z.data(),
                                     out.data(),    scale,          shift,         back};
    const auto kernel = lowdim::kernels().filter.rows[width == 8 ? 0 : width == 16 ? 1 : 2];
    run([&](lowdim::Stop& stop) {
        over_rows(static_cast<std::int64_t>(n), 1024, threads, stop,
                  [&](std::int64_t begin, std::int64_t end) { kernel(step, begin, end); });
    });
}

// The rounds of the layout: for every epoch one that lists the turns, then one for every half of a turn, by turns from
// the map to its twin and back. A last one brings over what moved in the half before, so that both agree again.
class UmapRounds {
  public:
    UmapRounds(lowdim::UmapStep& step, std::int64_t rows, float* map, bool beside) : step_(step), rows_(rows), beside_(beside), map_(map) {
        if (!beside) twin_.assign(map, map + rows * step.dims);
        most_.resize(static_cast<std::size_t>(tasks()));
    }

    std::int64_t tasks() const { return (rows_ + rows_a_task - 1) / rows_a_task; }
    bool listing() const { return listing_; }
    std::int64_t first(std::int64_t task) const { return task * rows_a_task; }
    std::int64_t last(std::int64_t task) const { return std::min(rows_, first(task) + rows_a_task); }

    void listed(std::int64_t task) {
        most_[static_cast<std::size_t>(task)] = *std::max_element(step_.turns + first(task), step_.turns + last(task));
    }

    void begin_epoch() {
        listing_ = true;
        step_.half = -1;
    }

    // Prepares the round after this one; false when the epoch is over.
    bool next() {
        if (listing_) {
            listing_ = false;
            for (std::size_t task = most_.size(); task-- > 1;) most_[task - 1] = std::max(most_[task - 1], most_[task]);
            awake_ = tasks();
        } else if (beside_) {
            return false;
        }
        ++step_.half;
        if (beside_) {
            step_.heads = step_.out = map_;
            return true;
        }
        const bool even = step_.half % 2 == 0;
        step_.heads = step_.others = even ? map_ : twin_.data();
        step_.out = even ? twin_.data() : map_;
        while (awake_ > 0 && step_.half > 2 * most_[static_cast<std::size_t>(awake_ - 1)]) --awake_;
        return awake_ > 0;
    }

    std::int64_t awake() const { return listing_ || beside_ ? tasks() : awake_; }

  private:
    static constexpr std::int64_t rows_a_task = 512;

    lowdim::UmapStep& step_;
    std::int64_t rows_, awake_ = 0;
    bool beside_, listing_ = true;
    float* map_;
    std::vector<float> twin_;
    std::vector<std::int32_t> most_;  // turns of a row of this task, or of one behind it
};

// Epochs first … last of `total`; see UmapStep. `positions` is changed in place.
void umap_epochs(const Dense<float>& positions, std::optional<Dense<const float>> frozen, const Starts& starts, const Ids& tails,
                 const Vector<const std::uint32_t>& rates, std::int64_t first, std::int64_t last, std::int64_t total,
                 float alpha, const Vector<const float>& forces, std::int32_t negatives, std::uint64_t seed,
                 std::optional<Vector<const float>> crowding, std::optional<Vector<const float>> inverse, int threads) {
    const std::size_t rows = positions.shape(0), dims = positions.shape(1);
    const std::size_t count = frozen ? frozen->shape(0) : rows;
    require_rows(starts, rows, tails, count);
    require(rows >= 1 && count >= 1 && dims >= 1, "there must be rows and coordinates");
    require(!frozen || frozen->shape(1) == dims, "both maps must have the same coordinates");
    require(std::max(rows, count) * dims < (std::size_t{1} << 31), "there are too many coordinates for 32-bit indices");
    require(tails.shape(0) < (std::size_t{1} << 31), "there are too many edges for 32-bit indices");
    require(rates.shape(0) == tails.shape(0), "rates must have one entry an edge");
    require(forces.shape(0) == 3 && negatives >= 0, "forces are a, b and repulsion, negatives are a count");
    require(0 <= first && first <= last && last <= total, "epochs are out of order");
    const auto& kernel = lowdim::kernels().umap;
    const std::size_t way = dims <= 3 ? dims : 0;
    lowdim::UmapStep step = {};
    step.starts = starts.data(), step.tails = tails.data(), step.rates = rates.data();
    step.others = frozen ? frozen->data() : nullptr;
    step.count = static_cast<std::int64_t>(count), step.dims = static_cast<std::int64_t>(dims);
    step.forces = {forces(0), forces(1), forces(2), negatives};
    step.same_draws = frozen.has_value();
    step.crowding = data_or_null(crowding, 2 * rows, "crowding must have two numbers a row");
    step.crowding_of_others = frozen ? nullptr : step.crowding;
    step.inverse = data_or_null(inverse, rates.shape(0), "inverse must have one number an edge");
    require((step.crowding == nullptr) == (step.inverse == nullptr), "crowding and inverse go together");
    // One more than there are: a lane without a turn reads the first.
    const std::size_t padded = rows + static_cast<std::size_t>(kernel.owners);
    std::vector<std::int32_t> turns(padded), firsts(padded), turn_tails(tails.shape(0) + 1);
    for (std::size_t i = 0; i < rows; ++i) firsts[i] = static_cast<std::int32_t>(starts(i));
    std::vector<float> turn_inverse(step.crowding == nullptr ? 0 : tails.shape(0) + 1);
    step.firsts = firsts.data(), step.turns = turns.data(), step.turn_tails = turn_tails.data(), step.turn_inverse = turn_inverse.data();
    UmapRounds rounds(step, static_cast<std::int64_t>(rows), positions.data(), frozen.has_value());
    threads = static_cast<int>(std::clamp<std::int64_t>(rounds.tasks(), 1, std::max(threads, 1)));
    struct alignas(64) Line {
        float value[16];
    };
    const std::size_t lines = (3 * dims * static_cast<std::size_t>(kernel.owners) + 15) / 16;
    std::vector<Line> stores(lines * static_cast<std::size_t>(threads));
    std::int64_t epoch = first - 1;
    const auto next_round = [&]() -> std::int64_t {
        if (epoch < first || !rounds.next()) {
            if (++epoch >= last) return 0;
            step.alpha = alpha * (1.0f - static_cast<float>(epoch) / static_cast<float>(total));
            step.tick = static_cast<std::uint32_t>(epoch + 1);
            step.key = lowdim::draw(seed, 0x756d6170u, static_cast<std::uint64_t>(epoch))[0];
            rounds.begin_epoch();
        }
        return rounds.awake();
    };
    run([&](lowdim::Stop& stop) {
        lowdim::run_rounds(
            threads, stop,
            [&](std::int64_t task, int thread) {
                const std::int64_t from = rounds.first(task), to = rounds.last(task);
                float* store = stores[static_cast<std::size_t>(thread) * lines].value;
                if (rounds.listing()) {
                    kernel.turns(step, from, to);
                    rounds.listed(task);
                } else if (frozen) {
                    kernel.beside[way](step, from, to, store);
                } else {
                    kernel.half[way](step, from, to, store);
                }
            },
            next_round);
    });
}

void umap_radii(const Dense<const float>& positions, std::optional<Dense<const float>> others, const Starts& starts, const Ids& tails,
                float a, float b, const Vector<float>& shares, const Vector<float>& spreads, int threads) {
    const std::size_t n = positions.shape(0);
    require_rows(starts, n, tails, others ? others->shape(0) : n);
    require(!others || others->shape(1) == positions.shape(1), "both maps must have the same coordinates");
    require(shares.shape(0) == n && spreads.shape(0) == n, "out must have one entry a row");
    lowdim::UmapStep step = {};
    step.starts = starts.data(), step.tails = tails.data(), step.heads = positions.data();
    step.others = others ? others->data() : positions.data();
    step.dims = static_cast<std::int64_t>(positions.shape(1));
    step.forces.a = a, step.forces.b = b;
    run([&](lowdim::Stop& stop) {
        over_rows(static_cast<std::int64_t>(n), rows_a_task, threads, stop, [&](std::int64_t begin, std::int64_t end) {
            lowdim::kernels().umap.radii(step, begin, end, shares.data(), spreads.data());
        });
    });
}

void powers(const Vector<const float>& x, float b, const Vector<float>& out) {
    require(out.shape(0) == x.shape(0), "out must be as long as x");
    lowdim::kernels().umap.powers(x.data(), b, out.data(), static_cast<std::int64_t>(x.shape(0)));
}

}  // namespace

void bind_umap(nb::module_& m) {
    m.def("smooth_neighbors", &smooth_neighbors, "distances"_a.noconvert(), "target"_a, "local_connectivity"_a, "cores"_a.noconvert(),
          "widths"_a.noconvert(), "weights"_a.noconvert(), "threads"_a, "How much each neighbour belongs to a row, and the scales of that.");
    m.def("symmetrize", &symmetrize, "starts"_a.noconvert(), "columns"_a.noconvert(), "weights"_a.noconvert(), "lengths"_a.noconvert(), "mix"_a,
          "threads"_a, "A fuzzy graph and its transpose as one: starts, columns, weights and lengths.");
    m.def("mark_rows", &mark_rows<float>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit mark of every row's values.");
    m.def("mark_rows", &mark_rows<double>, "x"_a.noconvert(), "out"_a.noconvert(), "threads"_a, "A 64-bit mark of every row's values.");
    bind_sparse_marks<float, std::int32_t>(m);
    bind_sparse_marks<double, std::int32_t>(m);
    bind_sparse_marks<float, std::int64_t>(m);
    bind_sparse_marks<double, std::int64_t>(m);
    m.def("filter_step", &filter_step, "starts"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "x"_a.noconvert(),
          "z"_a.noconvert(), "out"_a.noconvert(), "scale"_a, "shift"_a, "back"_a, "threads"_a, "out = scale S x + shift x + back z.");
    m.def("umap_epochs", &umap_epochs, "positions"_a.noconvert(), "frozen"_a.noconvert().none(), "starts"_a.noconvert(),
          "tails"_a.noconvert(), "rates"_a.noconvert(), "first"_a, "last"_a, "total"_a, "alpha"_a,
          "forces"_a.noconvert(), "negatives"_a, "seed"_a, "crowding"_a.noconvert().none(), "inverse"_a.noconvert().none(),
          "threads"_a, "Move the rows of a map for some epochs.");
    m.def("umap_radii", &umap_radii, "positions"_a.noconvert(), "others"_a.noconvert().none(), "starts"_a.noconvert(), "tails"_a.noconvert(), "a"_a, "b"_a,
          "shares"_a.noconvert(), "spreads"_a.noconvert(), "threads"_a, "Sums over each row's edges of phi and phi d^2.");
    m.def("powers", &powers, "x"_a.noconvert(), "b"_a, "out"_a.noconvert(), "x^b as the layout computes it.");
}
