// How many CPUs this process may use: scheduling affinity and the cgroup CPU quota.
#pragma once

#include <filesystem>

namespace minitorch {

// CPUs in the calling thread's affinity mask, at least 1.
[[nodiscard]] int affinity_cpu_count();

// Whole CPUs that the CPU quotas of this process's cgroups (version 2 or 1, the tightest up to the root) pay for, at
// least 1; INT_MAX without a quota, also where no cgroup file system is mounted. Fractions are dropped: a thread that
// the quota stops keeps all others waiting. Files are looked up below `root`.
[[nodiscard]] int cgroup_cpu_limit(const std::filesystem::path& root = "/");

}  // namespace minitorch
