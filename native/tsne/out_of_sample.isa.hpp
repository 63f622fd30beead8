// Out-of-sample rows of t-SNE on a fixed embedding.
// No include guard: kernels.cpp includes this once per instruction set, inside a namespace.

constexpr float regather_radius = 0.25f;  // how far a row may move before its sources in the tree are gathered again

// The repulsion of the fixed embedding on one row: by mesh, octree or exact sum, whichever the embedding has.
template <int D>
class FixedRepulsion {
  public:
    FixedRepulsion(const FixedEmbedding& map, const Mesh& mesh, const MeshFields& fields, const TreeScratch& scratch)
        : map_(map), mesh_(mesh), fields_(fields), scratch_(scratch) {}

    void operator()(const float* position, float* force) {
        if constexpr (D < 3) {
            if (fields_.values != nullptr) {
                force_at<D>(mesh_, fields_, position, force);
                return;
            }
        } else if (map_.tree.nodes != nullptr) {
            if (!(std::abs(position[0] - gather_center_[0]) <= regather_radius &&
                  std::abs(position[1] - gather_center_[1]) <= regather_radius &&
                  std::abs(position[2] - gather_center_[2]) <= regather_radius))
                gather_around(position);
            repulsion_from_sources(map_.tree, sources_, scratch_, position, map_.dof, force);
            return;
        }
        repulsion_at<D>(position, map_.axes, map_.n, map_.n, map_.dof, force);
    }

  private:
    void gather_around(const float* position) {
        float low[3], high[3];
        for (int a = 0; a < 3; ++a) {
            gather_center_[a] = position[a];
            low[a] = position[a] - regather_radius;
            high[a] = position[a] + regather_radius;
        }
        sources_ = gather_sources(map_.tree, low, high, scratch_);
    }

    const FixedEmbedding& map_;
    const Mesh& mesh_;
    const MeshFields& fields_;
    const TreeScratch& scratch_;
    float gather_center_[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF};  // nothing gathered yet
    TreeSources sources_ = {0, 0};
};

// Gradient descent with momentum, independently for each row.
template <int D>
void tsne_out_of_sample(const FixedEmbedding& map, const Mesh& mesh, const MeshFields& fields, const AffinityGraph& edges,
                        const TreeScratch& scratch, std::int64_t begin, std::int64_t end, float* positions) {
    for (std::int64_t i = begin; i < end; ++i) {
        FixedRepulsion<D> repulsion(map, mesh, fields, scratch);
        float* position = positions + i * D;
        float velocity[D] = {};
        for (int step = 0; step < map.steps; ++step) {
            float attracted[D], repelled[D], square = 0;
            attraction<D>(edges, map.y, position, i, 1.0f / map.dof, attracted);
            repulsion(position, repelled);
            for (int a = 0; a < D; ++a) {
                velocity[a] = map.momentum * velocity[a] - map.learning_rate * (attracted[a] - map.inverse_normalizer * repelled[a]);
                square += velocity[a] * velocity[a];
            }
            const float length = std::sqrt(square), shrink = length > map.max_step ? map.max_step / length : 1.0f;
            for (int a = 0; a < D; ++a) {
                velocity[a] *= shrink;
                position[a] += velocity[a];
            }
        }
    }
}
