// t-SNE: a map, what draws its rows together and what drives them apart.
#pragma once

#include <cstdint>

namespace lowdim {

// Symmetric affinities in compressed sparse rows.
struct MapEdges {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* values;
};

struct Descent {
    float exaggeration, rate, momentum, longest;
    float inverse_sum;  // one over the sum that normalises the repulsion
    float inverse_dof, factor;
};

struct Mesh {
    std::int64_t cells[2];
    float origin[2];
    float inverse_spacing;
};

struct MeshFields {
    const float* values;  // one field after another; null if there are none
    std::int64_t field;   // from one field to the next
    std::int64_t row;     // from one row of the last axis to the next
};

// A node of an octree over points in space; nodes stand in depth-first order.
struct TreeNode {
    float middle[3];          // of its points
    float side;               // square of the longest side of the smallest box around them
    float mass;               // how many they are
    float spread[6];          // their covariance: 00, 11, 22, 01, 02, 12
    std::int32_t begin, end;  // which they are
    std::int32_t next;        // the first node that is not below this one; for a leaf, the one after it
};

struct Tree {
    const TreeNode* nodes;  // null if there is no tree
    std::int64_t count;
    const float* axes;  // coordinates of the points, one axis after another
    std::int64_t n;
    float opening;  // nodes whose `side` is more than this times their square distance are opened,
    float grain;    // unless it is less than this
};

// Room for what acts on one place: 3 n and 10 count floats.
struct TreeScratch {
    float* points;
    float* nodes;
};

struct FrozenMap {
    const float* y;
    const float* axes;  // the same coordinates, one axis after another
    std::int64_t n;
    float dof, inverse_mean, rate, momentum, longest;
    int steps;
    Tree tree;
};

template <int D>
struct MapKernels {
    void (*descend)(const MapEdges&, const Descent&, const float*, const float*, float*, float*, float*, std::int64_t,
                    std::int64_t, double*);
    double (*log_lengths)(const MapEdges&, const float*, double, std::int64_t, std::int64_t);
    double (*repel_directly)(const float*, const float*, std::int64_t, float, std::int64_t, std::int64_t, float*);
    void (*place_rows)(const FrozenMap&, const Mesh&, const MeshFields&, const MapEdges&, const TreeScratch&, std::int64_t,
                       std::int64_t, float*);
};

template <int D>
struct MeshKernels {
    void (*first_nodes)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int32_t*);
    void (*spread_masses)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
    double (*gather_forces)(const Mesh&, const MeshFields&, const float*, std::int64_t, std::int64_t, float*);
};

struct TreeKernels {
    void (*measure_node)(const Tree&, TreeNode&);
    double (*repel)(const Tree&, std::int64_t, std::int64_t, float, const std::int32_t*, const TreeScratch&, float*);
};

struct TsneKernels : MapKernels<1>, MapKernels<2>, MapKernels<3>, MeshKernels<1>, MeshKernels<2> {
    void (*calibrate_row)(const float*, std::int64_t, double, double*, double*);
    void (*multiply_spectra)(const float*, const float*, int, std::int64_t, std::int64_t, std::int64_t, float*);
    TreeKernels tree;

    template <int D>
    const MapKernels<D>& on() const {
        return *this;
    }

    template <int D>
    const MeshKernels<D>& mesh() const {
        return *this;
    }
};

}  // namespace lowdim
