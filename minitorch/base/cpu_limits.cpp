// CPU limits: sched_getaffinity, and the quota files of cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us,
// cpu.cfs_period_us).
#include "minitorch/base/cpu_limits.h"

#include <algorithm>
#include <charconv>
#include <climits>  // INT_MAX
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace minitorch {
namespace {
namespace fs = std::filesystem;

// A mounted cgroup hierarchy that may limit CPU time.
struct CgroupMount {
  bool version2 = false;
  std::string root;         // the cgroup shown at the mount point
  std::string mount_point;  // its folder
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& parts, std::string_view wanted) {
  return std::find(parts.begin(), parts.end(), wanted) != parts.end();
}

// A line of mountinfo (proc(5)): id parent device root mount_point options [tags...] - type source super_options.
std::optional<CgroupMount> parse_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  const auto fields = split(line.substr(0, dash), ' ');
  const auto type = split(line.substr(dash + 3), ' ');
  if (fields.size() < 5 || type.size() < 3) return std::nullopt;
  const bool version2 = type[0] == "cgroup2";
  if (!version2 && !(type[0] == "cgroup" && contains(split(type[2], ','), "cpu"))) return std::nullopt;
  return CgroupMount{.version2 = version2, .root = fields[3], .mount_point = fields[4]};
}

// This process's cgroup in the hierarchy, out of lines such as "0::/a" (version 2) and "4:cpu,cpuacct:/a" (version 1).
std::optional<std::string> own_cgroup(const fs::path& root, bool version2) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? controllers.empty() : contains(split(controllers, ','), "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;  // "max" too
  return value;
}

std::string first_line(const fs::path& path) {
  std::string line;
  std::ifstream stream(path);
  std::getline(stream, line);
  return line;
}

// CPUs paid for by the quota of one cgroup folder.
std::optional<double> quota_of(const fs::path& folder, bool version2) {
  std::vector<std::string> words;
  if (version2) {
    words = split(first_line(folder / "cpu.max"), ' ');
  } else {
    words = {first_line(folder / "cpu.cfs_quota_us"), first_line(folder / "cpu.cfs_period_us")};
  }
  if (words.size() != 2) return std::nullopt;
  const auto quota = parse_number(words[0]);
  const auto period = parse_number(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;  // -1: no quota
  return *quota / *period;
}

// The cgroup's path below the mount point. Inside a container the mount may show only its own subtree.
fs::path below_mount(const std::string& cgroup, const std::string& mount_root) {
  fs::path relative = fs::path(cgroup).lexically_relative(mount_root);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return outside || relative == "." ? fs::path{} : relative;
}

// The smallest quota from the process's own cgroup up to the mount point.
double tightest_quota(const fs::path& root, const CgroupMount& mount) {
  double limit = INT_MAX;
  const auto cgroup = own_cgroup(root, mount.version2);
  if (!cgroup) return limit;
  const fs::path mount_point = root / fs::path(mount.mount_point).relative_path();
  fs::path relative = below_mount(*cgroup, mount.root);
  while (true) {
    if (const auto quota = quota_of(mount_point / relative, mount.version2)) limit = std::min(limit, *quota);
    if (relative.empty()) return limit;
    relative = relative.parent_path();
  }
}

}  // namespace

int affinity_cpu_count() {
#ifdef __linux__
  // The kernel refuses masks smaller than its own; the largest kernels are built for 8192 CPUs.
  for (int capacity = 1024; capacity <= 65536; capacity *= 4) {
    const std::size_t mask_bytes = CPU_ALLOC_SIZE(capacity);
    cpu_set_t* mask = CPU_ALLOC(capacity);
    if (mask == nullptr) break;
    const bool known = sched_getaffinity(0, mask_bytes, mask) == 0;
    const int count = known ? CPU_COUNT_S(mask_bytes, mask) : 0;
    CPU_FREE(mask);
    if (known) return std::max(count, 1);
  }
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int cgroup_cpu_limit(const fs::path& root) {
  double limit = INT_MAX;
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    if (const auto mount = parse_mount(line)) limit = std::min(limit, tightest_quota(root, *mount));
  }
  return std::max(static_cast<int>(limit), 1);
}

}  // namespace minitorch
