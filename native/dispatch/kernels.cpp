// Compiled once per instruction set; LOWDIM_ISA names it.
// Do not instantiate std:: templates with external linkage here unless they are inlined: the linker might keep a copy
// compiled for AVX-512 for all callers.
#include "dispatch/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
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

// each header builds on those before it
#include "simd/vector.isa.hpp"
#include "simd/wide.isa.hpp"
#include "simd/power.isa.hpp"
#include "distance/pair_distance.isa.hpp"
#include "knn/topk.isa.hpp"
#include "knn/tiles.isa.hpp"
#include "knn/candidates.isa.hpp"
#include "knn/local_join.isa.hpp"
#include "knn/sparse_tiles.isa.hpp"

template <class T>
constexpr SparseKnnKernels<T> sparse_knn_kernels = {
    {add_columns<SharedProduct, T>, add_columns<SharedMagnitude, T>},
    {keep_nearer<metric_squared_euclidean, T>, keep_nearer<metric_manhattan, T>, nullptr, keep_nearer<metric_hamming, T>,
     keep_nearer<metric_jaccard, T>, keep_nearer<metric_dice, T>, keep_nearer<metric_russellrao, T>, keep_nearer<metric_rogerstanimoto, T>,
     keep_nearer<metric_sokalsneath, T>, keep_nearer<metric_yule, T>},
};
#include "linalg/half_symmetric.isa.hpp"
#include "linalg/row_products.isa.hpp"
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
constexpr MdsKernels<T> mds_kernels = {
    {stress_tile<T, false>, stress_tile<T, true>},
    map_distances<T>,
    sstress_line_tile<T>,
    majorize_point<T>,
    {row_distances<T, metric_squared_euclidean>, row_distances<T, metric_manhattan>, row_distances<T, metric_chebyshev>,
     row_distances<T, metric_hamming>, row_distances<T, metric_jaccard>, row_distances<T, metric_dice>,
     row_distances<T, metric_russellrao>, row_distances<T, metric_rogerstanimoto>, row_distances<T, metric_sokalsneath>,
     row_distances<T, metric_yule>, row_distances<T, metric_minkowski>, row_distances<T, metric_canberra>,
     row_distances<T, metric_braycurtis>, row_distances<T, metric_differing>, row_distances<T, metric_gower>},
    sgd_block_pair<T>,
    running_sums<T>,
};
#include "tsne/perplexity.isa.hpp"
#include "tsne/gradient.isa.hpp"
#include "tsne/barnes_hut.isa.hpp"
#include "tsne/mesh.isa.hpp"
#include "tsne/out_of_sample.isa.hpp"

template <int D>
constexpr GradientKernels<D> gradient_kernels = {gradient_step<D>, attraction_loss<D>, repulsion_exact<D>, tsne_out_of_sample<D>};
template <int D>
constexpr MeshKernels<D> mesh_kernels = {first_nodes<D>, scatter_to_mesh<D>, gather_from_mesh<D>};
#include "simd/lane_math.isa.hpp"
#include "umap/sgd.isa.hpp"
#include "umap/manifolds.isa.hpp"
#include "linalg/chebyshev.isa.hpp"
#include "mds/monotone_spline.isa.hpp"
#include "ica/contrast.isa.hpp"
#include "ica/pass.isa.hpp"

template <class T>
constexpr IcaKernels<T> ica_kernels = {
    {ica_block<T, ContrastLogcosh>, ica_block<T, ContrastExp>, ica_block<T, ContrastCube>},
    {contrast_values<T, ContrastLogcosh>, contrast_values<T, ContrastExp>, contrast_values<T, ContrastCube>},
};
#include "subspace/grid_units.isa.hpp"
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
         {sweep_tiles<TileEuclidean>, sweep_tiles<TileManhattan>, sweep_tiles<TileChebyshev>, sweep_bits<metric_hamming>,
          sweep_bits<metric_jaccard>, sweep_bits<metric_dice>, sweep_bits<metric_russellrao>, sweep_bits<metric_rogerstanimoto>,
          sweep_bits<metric_sokalsneath>, sweep_bits<metric_yule>, sweep_pairs<metric_minkowski>, sweep_pairs<metric_canberra>,
          sweep_pairs<metric_braycurtis>, sweep_pairs<metric_differing>, sweep_pairs<metric_gower>},
         select_nearest,
         merge_lists,
         {local_join<JoinEuclidean>, local_join<JoinManhattan>, local_join<JoinChebyshev>,
          local_join<PairOf<metric_hamming>>, local_join<PairOf<metric_jaccard>>, local_join<PairOf<metric_dice>>, local_join<PairOf<metric_russellrao>>,
          local_join<PairOf<metric_rogerstanimoto>>, local_join<PairOf<metric_sokalsneath>>, local_join<PairOf<metric_yule>>,
          local_join<PairOf<metric_minkowski>>, local_join<PairOf<metric_canberra>>, local_join<PairOf<metric_braycurtis>>,
          local_join<PairOf<metric_differing>>, local_join<PairOf<metric_gower>>},
         apply_updates,
         {score_row<PairEuclidean>, score_row<PairManhattan>, score_row<PairChebyshev>,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,  // sets
          score_row<PairOf<metric_minkowski>>, score_row<PairOf<metric_canberra>>, score_row<PairOf<metric_braycurtis>>,
          score_row<PairOf<metric_differing>>, score_row<PairOf<metric_gower>>},
         {graph_search<PairEuclidean>, graph_search<PairManhattan>, graph_search<PairChebyshev>,
          graph_search<PairOf<metric_hamming>>, graph_search<PairOf<metric_jaccard>>, graph_search<PairOf<metric_dice>>, graph_search<PairOf<metric_russellrao>>,
          graph_search<PairOf<metric_rogerstanimoto>>, graph_search<PairOf<metric_sokalsneath>>, graph_search<PairOf<metric_yule>>,
          graph_search<PairOf<metric_minkowski>>, graph_search<PairOf<metric_canberra>>, graph_search<PairOf<metric_braycurtis>>,
          graph_search<PairOf<metric_differing>>, graph_search<PairOf<metric_gower>>},
         {refine<float>, refine<double>}},
        {{half_symmetric_times<float>, half_symmetric_times<double>}, {row_products<float>, row_products<double>}},
        {relax_sweep, square_row, double_center_row, gram_times, correlation_sums},
        {{local_gram<float>, local_gram<double>}, reconstruction_weights, batched_eigh},
        {{mds_kernels<float>, mds_kernels<double>}, hull_edges, min_below_line},
        {gradient_kernels<1>,
         gradient_kernels<2>,
         gradient_kernels<3>,
         mesh_kernels<1>,
         mesh_kernels<2>,
         calibrate_row,
         multiply_spectra,
         {summarize_node, repulsion_barnes_hut}},
        {row_lanes,
         sample_rows,
         {sgd_rows<0>, sgd_rows<1>, sgd_rows<2>, sgd_rows<3>, sgd_rows_of<ManifoldRows<3, space_haversine>, false>,
          sgd_rows_of<ManifoldRows<0, space_hyperboloid>, false>, sgd_rows_of<ManifoldRows<0, space_manhattan>, false>},
         densmap_sums,
         fast_powers},
        {{three_term_rows<8>, three_term_rows<16>, three_term_rows<32>}, chebyshev_rows},
        {{spline_moments<float>, evaluate_spline<float>}, {spline_moments<double>, evaluate_spline<double>}},
        {ica_kernels<float>, ica_kernels<double>},
        {unit_supports, unite_units},
        {panel_lanes, panel_tile, {sum_panels<SharedProduct>, sum_panels<SharedMagnitude>}, sum_limit},
        {sparse_knn_kernels<float>, sparse_knn_kernels<double>},
    };
    return kernels;
}

}  // namespace lowdim::LOWDIM_ISA
