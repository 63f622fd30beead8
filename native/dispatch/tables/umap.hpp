// UMAP's layout.
#pragma once

#include <cstdint>

namespace lowdim {

struct UmapForces {
    float a;  // of the membership 1 / (1 + a d^2b) in the map
    float b;
    float repulsion;
    std::int32_t negatives;
};

// One half of a turn, or one epoch beside a map that stays.
struct UmapStep {
    const std::int64_t* starts;  // the edges of row i are starts[i] … starts[i + 1]
    const std::int32_t* tails;
    const std::uint32_t* rates;  // how often an edge has its turn, of 2^32
    const std::int32_t* firsts;  // the starts in 32 bits; as the turns, with room for a whole group behind the last row
    std::int32_t* turns;         // of row i in this epoch; their tails, and one over their weights, from starts[i] on
    std::int32_t* turn_tails;
    float* turn_inverse;
    const float* heads;   // (m, dims)
    const float* others;  // (count, dims): heads themselves, or a map that stays as it is
    float* out;           // (m, dims)
    std::int64_t count;
    std::int64_t dims;
    UmapForces forces;
    float alpha;
    std::uint32_t tick;
    std::uint32_t key;  // of the draws of this epoch
    std::int32_t half;
    bool same_draws;                  // every head draws the same
    const float* crowding;            // densMAP: two numbers a row, or null
    const float* crowding_of_others;  // the same of the others, if they move
    const float* inverse;             // and one over the weight of each edge
};

struct UmapKernels {
    int owners;  // rows that are moved at once
    void (*turns)(const UmapStep&, std::int64_t, std::int64_t);
    void (*half[4])(const UmapStep&, std::int64_t, std::int64_t, float*);    // the last is room for 3 dims owners numbers
    void (*beside[4])(const UmapStep&, std::int64_t, std::int64_t, float*);
    void (*radii)(const UmapStep&, std::int64_t, std::int64_t, float*, float*);
    void (*powers)(const float*, float, float*, std::int64_t);
};

}  // namespace lowdim
