// New rows on a t-SNE map that does not move.
// No include guard: kernels.cpp includes this once for every instruction set, inside a namespace.

constexpr float roam = 0.25f;  // how far a row may go before its sources in the tree are gathered again

// The force of the map at the place of one row, by whichever way the map has.
template <int D>
class Push {
  public:
    Push(const FrozenMap& map, const Mesh& mesh, const MeshFields& fields, const TreeScratch& scratch)
        : map_(map), mesh_(mesh), fields_(fields), scratch_(scratch) {}

    void operator()(const float* here, float* force) {
        if constexpr (D < 3) {
            if (fields_.values != nullptr) {
                float values[D + 1];
                fields_at<D>(mesh_, fields_, here, values);
                for (int a = 0; a < D; ++a) force[a] = values[a + 1];
                return;
            }
        } else if (map_.tree.nodes != nullptr) {
            if (!(std::abs(here[0] - middle_[0]) <= roam && std::abs(here[1] - middle_[1]) <= roam &&
                  std::abs(here[2] - middle_[2]) <= roam))
                gather(here);
            repulsion_from(map_.tree, sources_, scratch_, here, map_.dof, force);
            return;
        }
        repulsion_at<D>(here, map_.axes, map_.n, map_.n, map_.dof, force);
    }

  private:
    void gather(const float* here) {
        float low[3], high[3];
        for (int a = 0; a < 3; ++a) {
            middle_[a] = here[a];
            low[a] = here[a] - roam;
            high[a] = here[a] + roam;
        }
        sources_ = gather_sources(map_.tree, low, high, scratch_);
    }

    const FrozenMap& map_;
    const Mesh& mesh_;
    const MeshFields& fields_;
    const TreeScratch& scratch_;
    float middle_[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF};  // nowhere yet
    Sources sources_ = {0, 0};
};

// Descent with momentum, each row by itself.
template <int D>
void place_rows(const FrozenMap& map, const Mesh& mesh, const MeshFields& fields, const MapEdges& edges, const TreeScratch& scratch,
                std::int64_t begin, std::int64_t end, float* places) {
    for (std::int64_t i = begin; i < end; ++i) {
        Push<D> push(map, mesh, fields, scratch);
        float* here = places + i * D;
        float velocity[D] = {};
        for (int step = 0; step < map.steps; ++step) {
            float pull[D], away[D], square = 0;
            attraction<D>(edges, map.y, here, i, 1.0f / map.dof, pull);
            push(here, away);
            for (int a = 0; a < D; ++a) {
                velocity[a] = map.momentum * velocity[a] - map.rate * (pull[a] - map.inverse_mean * away[a]);
                square += velocity[a] * velocity[a];
            }
            const float length = std::sqrt(square), brake = length > map.longest ? map.longest / length : 1.0f;
            for (int a = 0; a < D; ++a) {
                velocity[a] *= brake;
                here[a] += velocity[a];
            }
        }
    }
}
