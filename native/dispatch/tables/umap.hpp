// UMAP: stochastic gradient descent on the embedding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lowdim {

struct UmapParams {
    float a;  // of the membership 1 / (1 + a d^2b) in the embedding
    float b;
    float repulsion;
    std::int32_t negative_samples;
};

// Negative samples of this many rows are adjacent rows of the embedding, which are loaded together. Where rows move, the
// embedding is followed by its first rows once more, so that the last ones have neighbors, too.
constexpr std::int64_t negative_block = 16;

// What distances in the embedding are, and what its coordinates.
enum UmapSpace : std::int32_t {
    space_euclidean,
    space_haversine,    // great-circle distance on the unit sphere: three coordinates of length 1
    space_hyperboloid,  // hyperbolic distance: the coordinates x of (sqrt(1 + |x|^2), x)
    space_manhattan,
    space_count,
};

// Some samples of some rows.
struct UmapStep {
    const std::int64_t* starts;  // row i owns edges starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;  // sampling frequency of an edge, as a fraction of 2^32
    std::int32_t* row_order;     // within each task, the rows with the most samples first; like the next, padded to a whole group of lanes
    std::int32_t* samples;       // edges that these rows sample in this epoch
    std::int64_t* group_starts;  // where the samples of each group of lanes begin: the first of every lane, then the second of every lane …
    std::int32_t* sampled_tails;
    float* sampled_inverse_weights;
    const float* head_positions;  // (m, dims)
    const float* tail_positions;  // (count, dims): the heads themselves, or a fixed embedding
    float* out;                   // (m, dims)
    std::int64_t count;
    std::int64_t dims;
    std::int32_t space;  // UmapSpace
    UmapParams params;
    float alpha;
    std::int32_t first_sample, last_sample;  // those of each row that are taken
    bool repels;                             // whether negative samples are taken as well
    std::uint32_t epoch_number;
    std::uint32_t key;  // of the random numbers of this epoch
    bool shared_negatives;         // all heads draw the same negative samples
    const float* density;          // densMAP: two terms per row, or null
    const float* tail_density;     // the same for the tails, if they move
    const float* inverse_weights;  // one over the weight of each edge
};

// What some rows sample in an epoch, one after another.
struct UmapSamples {
    std::int32_t* counts;  // per row
    std::int32_t* tails;   // one more than there are edges, as are the next
    float* inverse_weights;
};

// Which kernel moves the rows: Euclidean ones by the number of coordinates, 0 for more than 3; then the other spaces.
inline std::size_t umap_variant(const UmapStep& step) {
    if (step.space != space_euclidean) return static_cast<std::size_t>(3 + step.space);
    return step.dims <= 3 ? static_cast<std::size_t>(step.dims) : 0;
}

struct UmapKernels {
    int row_lanes;  // rows that are moved together
    void (*sample)(const UmapStep&, std::int64_t, std::int64_t, const UmapSamples&);
    // By `umap_variant`; the last argument is scratch for 3 dims row_lanes values.
    void (*move[7])(const UmapStep&, std::int64_t, std::int64_t, float*);
    void (*densmap_sums)(const UmapStep&, std::int64_t, std::int64_t, float*, float*);
    void (*fast_powers)(const float*, float, float*, std::int64_t);
};

}  // namespace lowdim
