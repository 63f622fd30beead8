// UMAP's layout.
#pragma once

#include <cstdint>

namespace lowdim {

struct UmapParams {
    float a;  // of the membership 1 / (1 + a d^2b) in the map
    float b;
    float repulsion;
    std::int32_t negative_samples;
};

// One half of a turn, or one epoch beside a map that stays.
struct UmapStep {
    const std::int64_t* starts;  // the edges of row i are starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;  // how often an edge has its turn, of 2^32
    const std::int32_t* row_starts;  // the starts in 32 bits; as the turns, with room for a whole group behind the last row
    std::int32_t* samples;         // of row i in this epoch; their tails, and one over their weights, from starts[i] on
    std::int32_t* sampled_tails;
    float* sampled_inverse_weights;
    const float* head_positions;   // (m, dims)
    const float* tail_positions;  // (count, dims): heads themselves, or a map that stays as it is
    float* out;           // (m, dims)
    std::int64_t count;
    std::int64_t dims;
    UmapParams params;
    float alpha;
    std::uint32_t epoch_number;
    std::uint32_t key;  // of the draws of this epoch
    std::int32_t half_step;
    bool shared_negatives;                  // every head draws the same
    const float* density;            // densMAP: two numbers a row, or null
    const float* tail_density;  // the same of the others, if they move
    const float* inverse_weights;             // and one over the weight of each edge
};

struct UmapKernels {
    int row_lanes;  // rows that are moved at once
    void (*samples)(const UmapStep&, std::int64_t, std::int64_t);
    void (*half_step[4])(const UmapStep&, std::int64_t, std::int64_t, float*);    // the last is room for 3 dims owners numbers
    void (*fixed[4])(const UmapStep&, std::int64_t, std::int64_t, float*);
    void (*densmap_sums)(const UmapStep&, std::int64_t, std::int64_t, float*, float*);
    void (*fast_powers)(const float*, float, float*, std::int64_t);
};

}  // namespace lowdim
