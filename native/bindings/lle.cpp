#include <algorithm>
#include <utility>
#include <vector>

#include "bindings/run.hpp"
#include "lle/block_sum.hpp"

namespace {

using lowdim::matrices_per_batch;
using Members = Dense<const std::int32_t>;  // one row per patch
template <class T>
using Stack = Numbers<T, nb::ndim<3>, nb::c_contig>;

template <class T>
void local_grams(const Matrix<T>& x, const Matrix<T>& centers, const Members& indices, const Stack<double>& out, int threads) {
    const auto rows = rows_of(x), center_block = rows_of(centers);
    const auto m = static_cast<std::int64_t>(indices.shape(0)), k = static_cast<std::int64_t>(indices.shape(1));
    require(rows.columns == center_block.columns && center_block.rows == m, "there must be one center per list of neighbors");
    require(out.shape(0) == indices.shape(0) && out.shape(1) == indices.shape(1) && out.shape(2) == indices.shape(1),
            "out must be (m, k, k)");
    require_below(indices, x.shape(0), threads);
    run(threads, [&](const lowdim::ThreadTeam& team) {
        std::vector<std::vector<double>> scratch(team.threads);
        lowdim::parallel_ranges(m, 32, team, [&](std::int64_t begin, std::int64_t end) {
            auto& own_scratch = scratch[lowdim::thread_index()];
            own_scratch.resize(k * rows.columns);
            for (std::int64_t i = begin; i < end; ++i)
                lowdim::kernels().lle.local_gram.of<T>()(rows, center_block.row(i), indices.data() + i * k, k, own_scratch.data(),
                                                         out.data() + i * k * k);
        });
    });
}

std::pair<std::int64_t, std::int64_t> stack_of(const Stack<const double>& grams) {
    require(grams.shape(1) == grams.shape(2) && grams.shape(1) >= 1, "the matrices must be square");
    return {static_cast<std::int64_t>(grams.shape(0)), static_cast<std::int64_t>(grams.shape(1))};
}

// Calls work(first matrix, count, scratch) for batches of the matrices.
template <class Work>
void in_batches(std::int64_t m, std::int64_t k, int threads, const Work& work) {
    run(threads, [&](const lowdim::ThreadTeam& team) {
        std::vector<std::vector<double>> scratch(team.threads);
        lowdim::parallel_ranges(m, matrices_per_batch, team, [&](std::int64_t begin, std::int64_t end) {
            auto& own_scratch = scratch[lowdim::thread_index()];
            own_scratch.resize((2 * k * k + 2 * k) * matrices_per_batch);
            work(begin, end - begin, own_scratch.data());
        });
    });
}

void reconstruction_weights(const Stack<const double>& grams, double reg, const Dense<double>& out, int threads) {
    const auto [m, k] = stack_of(grams);
    require(out.shape(0) == grams.shape(0) && out.shape(1) == grams.shape(1), "out must be (m, k)");
    in_batches(m, k, threads, [&, k = k](std::int64_t first, std::int64_t count, double* scratch) {
        lowdim::kernels().lle.reconstruction_weights(grams.data() + first * k * k, count, k, reg, out.data() + first * k, scratch);
    });
}

void batched_eigh(const Stack<const double>& grams, const Dense<double>& values, const Stack<double>& vectors, int threads) {
    const auto [m, k] = stack_of(grams);
    require(values.shape(0) == grams.shape(0) && values.shape(1) == grams.shape(1), "values must be (m, k)");
    require(same_shape(vectors, grams), "vectors must be (m, k, k)");
    in_batches(m, k, threads, [&, k = k](std::int64_t first, std::int64_t count, double* scratch) {
        lowdim::kernels().lle.batched_eigh(grams.data() + first * k * k, count, k, values.data() + first * k,
                                           vectors.data() + first * k * k, scratch);
    });
}

lowdim::Patches patches_of(const Members& members, int threads) {
    require_below(members, members.shape(0), threads);
    return {members.data(), static_cast<std::int64_t>(members.shape(0)), static_cast<std::int64_t>(members.shape(1))};
}

void block_sum_counts(const Members& members, const Vector<std::int32_t>& counts, int threads) {
    const auto patches = patches_of(members, threads);
    require(counts.shape(0) == members.shape(0), "counts must have one entry per row");
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::block_sum_counts(patches, counts.data(), team); });
}

void block_sum(const Members& members, const Stack<const double>& blocks, const Ids& starts, const Vector<std::int32_t>& columns,
               const Vector<double>& values, int threads) {
    const auto patches = patches_of(members, threads);
    require(blocks.shape(0) == members.shape(0) && blocks.shape(1) == members.shape(1) && blocks.shape(2) == members.shape(1),
            "blocks must be (n, p, p)");
    require(columns.shape(0) == values.shape(0), "not compressed sparse rows: every column needs a value");
    require_span(starts, members.shape(0), values.shape(0));
    std::vector<std::int32_t> counts(patches.n);
    run(threads, [&](const lowdim::ThreadTeam& team) { lowdim::block_sum_counts(patches, counts.data(), team); });
    for (std::int64_t i = 0; i < patches.n; ++i) require(starts(i + 1) - starts(i) == counts[i], "the starts must match the patches");
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::block_sum(patches, blocks.data(), starts.data(), columns.data(), values.data(), team);
    });
}

template <class T>
void bind_for(nb::module_& m) {
    m.def("local_grams", &local_grams<T>, "x"_a.noconvert(), "centers"_a.noconvert(), "indices"_a.noconvert(), "out"_a.noconvert(),
          "threads"_a, "Local Gram matrices: inner products of the neighbors of each center, relative to the center.");
}

}  // namespace

void bind_lle(nb::module_& m) {
    bind_for<float>(m);
    bind_for<double>(m);
    m.def("reconstruction_weights", &reconstruction_weights, "grams"_a.noconvert(), "reg"_a, "out"_a.noconvert(), "threads"_a,
          "Weights w = u / sum(u) with (G + reg trace(G)) u = 1, for a stack of G.");
    m.def("batched_eigh", &batched_eigh, "grams"_a.noconvert(), "values"_a.noconvert(), "vectors"_a.noconvert(), "threads"_a,
          "Descending eigenvalues and eigenvectors (in rows) of a stack of symmetric matrices.");
    m.def("block_sum_counts", &block_sum_counts, "members"_a.noconvert(), "counts"_a.noconvert(), "threads"_a,
          "The number of rows that share a patch with each row.");
    m.def("block_sum", &block_sum, "members"_a.noconvert(), "blocks"_a.noconvert(), "starts"_a.noconvert(), "columns"_a.noconvert(),
          "values"_a.noconvert(), "threads"_a, "The sum of blocks over the members of each patch, in compressed sparse rows.");
}
