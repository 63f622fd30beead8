// The table of kernels that are compiled once per instruction set, by family.
#pragma once

#include "dispatch/tables/chebyshev.hpp"
#include "dispatch/tables/common.hpp"
#include "dispatch/tables/half_symmetric.hpp"
#include "dispatch/tables/ica.hpp"
#include "dispatch/tables/isomap.hpp"
#include "dispatch/tables/knn.hpp"
#include "dispatch/tables/lle.hpp"
#include "dispatch/tables/mds.hpp"
#include "dispatch/tables/moments.hpp"
#include "dispatch/tables/monotone_spline.hpp"
#include "dispatch/tables/sparse.hpp"
#include "dispatch/tables/sparse_knn.hpp"
#include "dispatch/tables/subspace.hpp"
#include "dispatch/tables/tsne.hpp"
#include "dispatch/tables/umap.hpp"

namespace lowdim {

struct Kernels {
    const char* name;
    PerPrecision<MomentKernels> moments;
    SparseKernels sparse;
    KnnKernels knn;
    HalfSymmetricKernels half_symmetric;
    IsomapKernels isomap;
    LleKernels lle;
    MdsFamilyKernels mds;
    TsneKernels tsne;
    UmapKernels umap;
    ChebyshevKernels chebyshev;
    PerPrecision<SplineKernels> splines;
    PerPrecision<IcaKernels> ica;
    SubspaceKernels subspace;
    PanelKernels sparse_panels;
    PerPrecision<SparseKnnKernels> sparse_knn;
};

// The best table that this processor can run, or the one named by LOWDIM_ISA.
const Kernels& kernels();

}  // namespace lowdim
