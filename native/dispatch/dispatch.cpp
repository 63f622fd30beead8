#include "dispatch/kernels.hpp"

#include <cstdlib>
#include <cstring>

namespace lowdim {

namespace baseline {
const Kernels& table();
}
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}

namespace {

// LOWDIM_ISA=baseline or avx2 lowers the choice (for tests and comparisons); it never raises it above what the processor
// supports.
const Kernels& choose() {
    const char* requested = std::getenv("LOWDIM_ISA");
    [[maybe_unused]] const auto allowed = [requested](const char* name) {
        return requested == nullptr || *requested == 0 || std::strcmp(requested, name) == 0;
    };
#ifdef LOWDIM_HAS_avx512
    if (allowed("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return avx512::table();
#endif
#ifdef LOWDIM_HAS_avx2
    if ((allowed("avx2") || allowed("avx512")) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table();
#endif
    return baseline::table();
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace lowdim
