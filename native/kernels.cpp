// Compiled once for every instruction set, with LOWDIM_ISA naming it.
// No std:: template with external linkage may be instantiated here beyond what inlines: a copy
// compiled for AVX-512 must not be the one that the linker keeps for everybody.
#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace lowdim::LOWDIM_ISA {
namespace {
#include "moments.hpp"
#include "sparse.hpp"
// each builds on those before it
#include "lanes.hpp"
#include "lists.hpp"
#include "tiles.hpp"
#include "joins.hpp"
#include "mirror.hpp"
#include "manifold.hpp"
#include "local.hpp"
#include "smacof.hpp"
#include "hull.hpp"

template <class T>
constexpr PairKernels<T> pair_kernels = {
    {pull_tile<T, false>, pull_tile<T, true>},
    map_distances<T>,
    line_tile<T>,
    place_point<T>,
    {measure_row<T, metric_squares>, measure_row<T, metric_magnitudes>, measure_row<T, metric_largest>},
    meet<T>,
    running_sums<T>,
};
#include "affinities.hpp"
#include "tsne.hpp"
#include "tree.hpp"
#include "mesh.hpp"
#include "newcomers.hpp"

template <int D>
constexpr MapKernels<D> map_kernels = {descend<D>, log_lengths<D>, repel_directly<D>, place_rows<D>};
template <int D>
constexpr MeshKernels<D> mesh_kernels = {first_nodes<D>, spread_masses<D>, gather_forces<D>};
#include "wide.hpp"
#include "umap.hpp"
#include "filter.hpp"
}  // namespace

#define LOWDIM_QUOTE(x) #x
#define LOWDIM_NAME(x) LOWDIM_QUOTE(x)

const Kernels& table() {
    static constexpr Kernels kernels = {
        LOWDIM_NAME(LOWDIM_ISA),
        {column_sums<float>, center<float>, shift_rows<float>, subtract_outer<float>, add_scatter<float>},
        {column_sums<double>, center<double>, shift_rows<double>, subtract_outer<double>, add_scatter<double>},
        {sparse_times<float, std::int32_t>, sparse_transpose_times<float, std::int32_t>},
        {sparse_times<double, std::int32_t>, sparse_transpose_times<double, std::int32_t>},
        {sparse_times<float, std::int64_t>, sparse_transpose_times<float, std::int64_t>},
        {sparse_times<double, std::int64_t>, sparse_transpose_times<double, std::int64_t>},
        {tile_columns,
         pack_rows,
         {sweep_tiles<Squares>, sweep_tiles<Magnitudes>, sweep_tiles<Largest>, sweep_bits<false>, sweep_bits<true>},
         select_rows,
         merge_lists,
         {join<SquaredDifferences>, join<AbsoluteDifferences>, join<LargestDifference>},
         apply_updates,
         {remeasure<SquaredDifferences>, remeasure<AbsoluteDifferences>, remeasure<LargestDifference>},
         {walk<SquaredDifferences>, walk<AbsoluteDifferences>, walk<LargestDifference>},
         refine<float>,
         refine<double>},
        {mirrored_times<float>, mirrored_times<double>},
        {relax_sweep, square_row, center_row, gram_times, pair_sums},
        {local_gram<float>, local_gram<double>, local_weights, local_eigen, chebyshev_rows},
        {pair_kernels<float>, pair_kernels<double>, hull_edges, deepest},
        {calibrate_row, multiply_spectra, name_rows, map_kernels<1>, map_kernels<2>, map_kernels<3>, mesh_kernels<1>, mesh_kernels<2>,
         {measure_node, repel_by_tree}},
        {owners, umap_turns, {umap_half<0>, umap_half<1>, umap_half<2>, umap_half<3>},
         {umap_beside<0>, umap_beside<1>, umap_beside<2>, umap_beside<3>}, umap_radii, powers},
        {{filter_rows<8>, filter_rows<16>, filter_rows<32>}},
    };
    return kernels;
}

}  // namespace lowdim::LOWDIM_ISA
