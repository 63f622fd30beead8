// Compiled once for every instruction set, with LOWDIM_ISA naming it.
// No std:: template with external linkage may be instantiated here beyond what inlines: a copy
// compiled for AVX-512 must not be the one that the linker keeps for everybody.
#include "dispatch/kernels.hpp"

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
#include "linalg/moments.isa.hpp"
#include "linalg/sparse.isa.hpp"

template <class T>
constexpr MomentKernels<T> moment_kernels = {column_sums<T>, center<T>, shift_rows<T>, subtract_outer<T>, add_scatter<T>};
template <class T, class I>
constexpr SparseProducts<T, I> sparse_products = {sparse_times<T, I>, sparse_transpose_times<T, I>};

// each builds on those before it
#include "simd/vector.isa.hpp"
#include "knn/topk.isa.hpp"
#include "knn/tiles.isa.hpp"
#include "knn/candidates.isa.hpp"
#include "knn/local_join.isa.hpp"
#include "linalg/half_symmetric.isa.hpp"
#include "isomap/shortest_paths.isa.hpp"
#include "isomap/geodesic_gram.isa.hpp"
#include "lle/small_matrices.isa.hpp"
#include "mds/smacof.isa.hpp"
#include "mds/sstress.isa.hpp"
#include "mds/out_of_sample.isa.hpp"
#include "mds/distances.isa.hpp"
#include "mds/sgd.isa.hpp"
#include "mds/isotonic_hull.isa.hpp"

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
#include "tsne/perplexity.isa.hpp"
#include "tsne/gradient.isa.hpp"
#include "tsne/barnes_hut.isa.hpp"
#include "tsne/mesh.isa.hpp"
#include "tsne/out_of_sample.isa.hpp"

template <int D>
constexpr MapKernels<D> map_kernels = {descend<D>, log_lengths<D>, repel_directly<D>, place_rows<D>};
template <int D>
constexpr MeshKernels<D> mesh_kernels = {first_nodes<D>, spread_masses<D>, gather_forces<D>};
#include "simd/lane_math.isa.hpp"
#include "umap/sgd.isa.hpp"
#include "linalg/chebyshev.isa.hpp"
#include "mds/monotone_spline.isa.hpp"
}  // namespace

#define LOWDIM_QUOTE(x) #x
#define LOWDIM_NAME(x) LOWDIM_QUOTE(x)

const Kernels& table() {
    static constexpr Kernels kernels = {
        LOWDIM_NAME(LOWDIM_ISA),
        {moment_kernels<float>, moment_kernels<double>},
        {sparse_products<float, std::int32_t>, sparse_products<double, std::int32_t>, sparse_products<float, std::int64_t>,
         sparse_products<double, std::int64_t>},
        {tile_columns,
         pack_rows,
         {sweep_tiles<Squares>, sweep_tiles<Magnitudes>, sweep_tiles<Largest>, sweep_bits<false>, sweep_bits<true>},
         select_rows,
         merge_lists,
         {join<SquaredDifferences>, join<AbsoluteDifferences>, join<LargestDifference>},
         apply_updates,
         {remeasure<SquaredDifferences>, remeasure<AbsoluteDifferences>, remeasure<LargestDifference>},
         {walk<SquaredDifferences>, walk<AbsoluteDifferences>, walk<LargestDifference>},
         {refine<float>, refine<double>}},
        {{mirrored_times<float>, mirrored_times<double>}},
        {relax_sweep, square_row, center_row, gram_times, pair_sums},
        {{local_gram<float>, local_gram<double>}, local_weights, local_eigen},
        {{pair_kernels<float>, pair_kernels<double>}, hull_edges, deepest},
        {map_kernels<1>, map_kernels<2>, map_kernels<3>, mesh_kernels<1>, mesh_kernels<2>, calibrate_row, multiply_spectra,
         {measure_node, repel_by_tree}},
        {owners, umap_turns, {umap_half<0>, umap_half<1>, umap_half<2>, umap_half<3>},
         {umap_beside<0>, umap_beside<1>, umap_beside<2>, umap_beside<3>}, umap_radii, powers},
        {{filter_rows<8>, filter_rows<16>, filter_rows<32>}, chebyshev_rows},
        {{bend_moments<float>, bend_curve<float>}, {bend_moments<double>, bend_curve<double>}},
    };
    return kernels;
}

}  // namespace lowdim::LOWDIM_ISA
