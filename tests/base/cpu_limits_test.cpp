// The default number of threads: affinity and cgroup quotas, on made-up /proc and /sys trees.
#include "minitorch/base/cpu_limits.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <climits>
#include <string>
#include <thread>

#include "minitorch/base/thread_pool.h"
#include "tests/support/data.h"

namespace minitorch {
namespace {

const std::string kMountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kOtherMount = "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";

// A folder that stands for "/".
class FakeRoot {
 public:
  FakeRoot(const std::string& mountinfo, const std::string& cgroup) {
    add("proc/self/mountinfo", kOtherMount + mountinfo);
    add("proc/self/cgroup", cgroup);
  }
  void add(const std::string& path, const std::string& content) { test::write_file(folder_.path() / path, content); }
  [[nodiscard]] int limit() const { return cgroup_cpu_limit(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

TEST_CASE("a cgroup v2 quota limits the CPUs and fractions are dropped (case B45)") {
  const auto limit_with = [](const std::string& cpu_max) {
    FakeRoot root(kMountV2, "0::/job\n");
    root.add("sys/fs/cgroup/job/cpu.max", cpu_max);
    return root.limit();
  };
  CHECK(limit_with("200000 100000\n") == 2);
  CHECK(limit_with("350000 100000\n") == 3);
  CHECK(limit_with("50000 100000\n") == 1);
  CHECK(limit_with("max 100000\n") == INT_MAX);
  CHECK(limit_with("") == INT_MAX);
  CHECK(limit_with("nonsense\n") == INT_MAX);
  CHECK(limit_with("200000 0\n") == INT_MAX);
}

TEST_CASE("the tightest cgroup v2 quota up to the root counts") {
  FakeRoot root(kMountV2, "0::/a/b/c\n");
  root.add("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  CHECK(root.limit() == 8);
  root.add("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  CHECK(root.limit() == 3);
  root.add("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(root.limit() == 2);
}

TEST_CASE("a cgroup v1 quota limits the CPUs and -1 means none") {
  const std::string mount =
      "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  FakeRoot root(mount, "5:memory:/other\n4:cpu,cpuacct:/job\n0::/\n");
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/job/";
  root.add(folder + "cpu.cfs_period_us", "100000\n");
  root.add(folder + "cpu.cfs_quota_us", "-1\n");
  CHECK(root.limit() == INT_MAX);
  root.add(folder + "cpu.cfs_quota_us", "400000\n");
  CHECK(root.limit() == 4);
}

TEST_CASE("a container that sees only its own part of the hierarchy finds its quota") {
  FakeRoot root("30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/x\n");
  root.add("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(root.limit() == 2);
  FakeRoot nested("30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/docker/x/inner\n");
  nested.add("sys/fs/cgroup/inner/cpu.max", "300000 100000\n");
  CHECK(nested.limit() == 3);
  FakeRoot outside("30 23 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/../elsewhere\n");
  outside.add("sys/fs/cgroup/cpu.max", "500000 100000\n");
  CHECK(outside.limit() == 5);
}

TEST_CASE("without a cgroup mount or without /proc there is no limit") {
  CHECK(FakeRoot("", "0::/job\n").limit() == INT_MAX);
  const test::TemporaryFolder empty;
  CHECK(cgroup_cpu_limit(empty.path()) == INT_MAX);
}

TEST_CASE("the default number of threads follows the affinity of the process") {
  CHECK(default_thread_count() >= 1);
  CHECK(default_thread_count() <= affinity_cpu_count());
  CHECK(default_thread_count() <= cgroup_cpu_limit());
  int count = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0) count = default_thread_count();
  }).join();
  CHECK(count == 1);
}

}  // namespace
}  // namespace minitorch
