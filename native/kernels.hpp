// The table of kernels that exist once for every instruction set, family by family.
#pragma once

#include "tables/bends.hpp"
#include "tables/common.hpp"
#include "tables/filter.hpp"
#include "tables/gram.hpp"
#include "tables/local.hpp"
#include "tables/manifold.hpp"
#include "tables/moments.hpp"
#include "tables/neighbors.hpp"
#include "tables/smacof.hpp"
#include "tables/sparse.hpp"
#include "tables/tsne.hpp"
#include "tables/umap.hpp"

namespace lowdim {

struct Kernels {
    const char* name;
    Both<MomentKernels> moments;
    SparseKernels sparse;
    NeighborKernels neighbors;
    GramKernels gram;
    ManifoldKernels manifold;
    LocalKernels local;
    SmacofKernels smacof;
    TsneKernels tsne;
    UmapKernels umap;
    FilterKernels filter;
    Both<BendKernels> bends;
};

// The best table that this processor can run, or the one that LOWDIM_ISA names.
const Kernels& kernels();

}  // namespace lowdim
