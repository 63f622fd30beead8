#include <chrono>
#include <thread>

#include "bindings/run.hpp"

namespace {

// A loop that does nothing but poll, so that the tests can press Ctrl-C inside it.
void idle(double seconds, int threads) {
    run(threads, [&](const lowdim::ThreadTeam& team) {
        lowdim::parallel_blocks(static_cast<std::int64_t>(seconds * 1000) * team.threads, team,
                                [](std::int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    });
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Kernels of lowdim. Private: call them through the package.";
    bind_core(m);
    bind_linalg(m);
    bind_knn(m);
    bind_sparse_knn(m);
    bind_graph(m);
    bind_mds(m);
    bind_mds_disparities(m);
    bind_ica(m);
    bind_isomap(m);
    bind_lle(m);
    bind_tsne(m);
    bind_tsne_repulsion(m);
    bind_umap(m);
    bind_subspace(m);
    bind_select(m);
    bind_quality(m);
    m.def("idle", &idle, "seconds"_a, "threads"_a, "Wait, polling for Ctrl-C as every long kernel does.");
    m.def("instruction_set", [] { return std::string(lowdim::kernels().name); }, "The instruction set in use.");
}
