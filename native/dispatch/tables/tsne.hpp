// t-SNE: attraction along the affinities, repulsion between all points, gradient steps.
#pragma once

#include <cstdint>

namespace lowdim {

// Symmetric affinities in compressed sparse rows.
struct AffinityGraph {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const float* values;
};

struct GradientStep {
    float exaggeration, learning_rate, momentum, max_step;
    float inverse_normalizer;  // one over the normalization of the repulsion (Z)
    float inverse_dof, gradient_factor;
};

struct Mesh {
    std::int64_t cells[2];
    float origin[2];
    float inverse_spacing;
};

struct MeshFields {
    const float* values;  // the force along each axis, one field after another; null if there are none
    std::int64_t field;   // offset from one field to the next
    std::int64_t row;     // offset from one row of the last axis to the next
};

// Spectra of the density of points on a mesh and of the kernels, by the transform of real numbers.
struct Spectra {
    const float* density;  // complex
    const float* spectra;  // that of the sum, which is real, and those of the forces, divided by i
    std::int64_t count;    // complex numbers in each
    std::int64_t columns;  // of the last axis
    bool even;             // whether the last axis of the mesh is even: the last column is then its own mirror image
    int forces;
};

// A node of an octree over points in three dimensions; nodes are stored in depth-first order.
struct OctreeNode {
    float center[3];          // center of mass
    float squared_extent;     // squared longest side of the bounding box
    float mass;               // number of points
    float covariance[6];      // covariance of the points: 00, 11, 22, 01, 02, 12
    std::int32_t begin, end;  // range of its points
    std::int32_t next;        // the first node outside this subtree
};

struct OctreeView {
    const OctreeNode* nodes;  // null if there is no tree
    std::int64_t count;
    const float* axes;  // coordinates of the points, axis by axis
    std::int64_t n;
    float opening;     // a node is opened if its squared extent exceeds this times its squared distance,
    float min_extent;  // unless it is below this
};

// Scratch for the sources that act on one point: 3 n and 10 count floats.
struct TreeScratch {
    float* points;
    float* nodes;
};

struct FixedEmbedding {
    const float* y;
    const float* axes;  // the same coordinates, axis by axis
    std::int64_t n;
    float dof, inverse_normalizer, learning_rate, momentum, max_step;
    int steps;
    OctreeView tree;
};

template <int D>
struct GradientKernels {
    void (*gradient_step)(const AffinityGraph&, const GradientStep&, const float*, const float*, float*, float*, float*, std::int64_t,
                          std::int64_t, double*);
    double (*attraction_loss)(const AffinityGraph&, const float*, double, std::int64_t, std::int64_t);
    double (*repulsion_exact)(const float*, const float*, std::int64_t, float, std::int64_t, std::int64_t, float*);
    void (*out_of_sample)(const FixedEmbedding&, const Mesh&, const MeshFields&, const AffinityGraph&, const TreeScratch&, std::int64_t,
                          std::int64_t, float*);
};

template <int D>
struct MeshKernels {
    void (*first_nodes)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int32_t*);
    void (*scatter_to_mesh)(const Mesh&, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
    void (*gather_from_mesh)(const Mesh&, const MeshFields&, const float*, std::int64_t, std::int64_t, float*);
};

struct BarnesHutKernels {
    void (*summarize_node)(const OctreeView&, OctreeNode&);
    double (*repulsion)(const OctreeView&, std::int64_t, std::int64_t, float, const std::int32_t*, const TreeScratch&, float*);
};

struct TsneKernels : GradientKernels<1>, GradientKernels<2>, GradientKernels<3>, MeshKernels<1>, MeshKernels<2> {
    void (*calibrate_row)(const float*, std::int64_t, double, double*, double*);
    double (*multiply_spectra)(const Spectra&, std::int64_t, std::int64_t, float*);
    BarnesHutKernels barnes_hut;

    template <int D>
    const GradientKernels<D>& gradient() const {
        return *this;
    }

    template <int D>
    const MeshKernels<D>& mesh() const {
        return *this;
    }
};

}  // namespace lowdim
