// UMAP: stochastic gradient descent on the embedding.
#pragma once

#include <cstdint>

namespace lowdim {

struct UmapParams {
    float a;  // of the membership 1 / (1 + a d^2b) in the embedding
    float b;
    float repulsion;
    std::int32_t negative_samples;
};

// One half step of all sampled edges, or one epoch against a fixed embedding.
struct UmapStep {
    const std::int64_t* starts;  // row i owns edges starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;      // sampling frequency of an edge, as a fraction of 2^32
    std::int32_t* samples;           // edges sampled by row i in this epoch; their tails and inverse weights begin at starts[i]
    std::int32_t* row_order;         // within each task, the rows with the most samples first; like the next two, padded to
    std::int32_t* ordered_samples;   // a whole group of lanes: the samples of these rows
    std::int32_t* ordered_starts;    // and their starts, in 32 bits
    std::int32_t* sampled_tails;
    float* sampled_inverse_weights;
    const float* head_positions;  // (m, dims)
    const float* tail_positions;  // (count, dims): the heads themselves, or a fixed embedding
    float* out;                   // (m, dims)
    std::int64_t count;
    std::int64_t dims;
    UmapParams params;
    float alpha;
    std::uint32_t epoch_number;
    std::uint32_t key;  // of the random numbers of this epoch
    std::int32_t half_step;
    bool shared_negatives;         // all heads draw the same negative samples
    const float* density;          // densMAP: two terms per row, or null
    const float* tail_density;     // the same for the tails, if they move
    const float* inverse_weights;  // one over the weight of each edge
};

struct UmapKernels {
    int row_lanes;  // rows that are moved together
    void (*schedule)(const UmapStep&, std::int64_t, std::int64_t);
    void (*half_step[4])(const UmapStep&, std::int64_t, std::int64_t, float*);  // the last argument is scratch for 3 dims row_lanes values
    void (*fixed[4])(const UmapStep&, std::int64_t, std::int64_t, float*);
    void (*densmap_sums)(const UmapStep&, std::int64_t, std::int64_t, float*, float*);
    void (*fast_powers)(const float*, float, float*, std::int64_t);
};

}  // namespace lowdim
