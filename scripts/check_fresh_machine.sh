#!/usr/bin/env bash
# Tries the README's two commands on a fresh Debian 12: a chroot with the base system and git, and nothing else. Needs
# root and debootstrap. FOLDER (new, or of an earlier run) takes about 3 GB; the base system in it is used again by the
# next run.
#
#   scripts/check_fresh_machine.sh FOLDER [--data DIR | --no-data] [--worktree] [--shell]
#
#   --data DIR    the data folder, seen read-only beside the clone as ../shared/data (default: ../shared/data of this repository)
#   --no-data     no data: tests that need it are skipped
#   --worktree    copy the files as they are now instead of cloning the last commit
#   --shell       open a shell inside afterwards
#
# The build may take MINITORCH_FRESH_LIMIT_S seconds (default 360, meant for 2 cores), beside the installation of
# packages.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

release=bookworm
folder= data="$MT_ROOT/../shared/data" worktree= shell=
limit_s=${MINITORCH_FRESH_LIMIT_S:-360}
arguments=("$@")
while (($# > 0)); do
  case $1 in
    --data) data=${2:?--data needs a folder}; shift ;;
    --no-data) data= ;;
    --worktree) worktree=yes ;;
    --shell) shell=yes ;;
    -h | --help)
      mt_usage "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) mt_die "check_fresh_machine.sh: unknown option $1" ;;
    *) folder=$1 ;;
  esac
  shift
done
[[ -n $folder ]] || mt_die "check_fresh_machine.sh: expected a folder for the chroot (see --help)"
[[ -z $data || -d $data ]] || mt_die "no data folder $data (use --data DIR or --no-data)"
((EUID == 0)) || mt_die "a chroot needs root"
command -v debootstrap >/dev/null || mt_die "debootstrap is missing: apt-get install debootstrap"

# Mounts made from here on are seen by this process and its children alone, and go away with them.
if [[ -z ${MT_FRESH_NAMESPACE:-} ]]; then
  MT_FRESH_NAMESPACE=yes exec unshare --mount --propagation private "${BASH_SOURCE[0]}" "${arguments[@]}"
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
root="$folder/root"

# The mirror from which this machine installs, so that the check works wherever apt does.
mirror() {
  apt-get indextargets --format '$(SITE)' "Codename: $release" "Created-By: Packages" 2>/dev/null |
    grep -m1 'debian/\{0,1\}$' || true
}

# Makes the base system: unpacked from the last run's archive, or by debootstrap.
make_base() {
  rm -rf --one-file-system "$root"
  mkdir "$root"
  if [[ -f $folder/base.tar ]]; then
    tar -C "$root" -xf "$folder/base.tar"
    return
  fi
  mt_say "debootstrap: a minimal $release in $root"
  # shellcheck disable=SC2046  # without a known mirror debootstrap takes its own
  debootstrap --variant=minbase "$release" "$root" $(mirror) >"$folder/debootstrap.log" 2>&1 ||
    mt_die "debootstrap failed, see $folder/debootstrap.log"
  tar -C "$root" -cf "$folder/base.tar.new" . && mv "$folder/base.tar.new" "$folder/base.tar"
}

# What a machine has that a folder lacks: name resolution, the way to the package mirror, /proc, terminals, and git.
make_machine() {
  local file
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if grep -qs '^ *Acquire::' "$file"; then cp "$file" "$root/etc/apt/apt.conf.d/"; fi
  done
  mount -t proc proc "$root/proc"
  mkdir -p "$root/dev/pts"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  inside 'export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update && apt-get -qq install --yes --no-install-recommends git' >"$folder/git.log" 2>&1 || mt_die "git could not be installed in the chroot, see $folder/git.log"
}

# inside COMMANDS: runs shell commands inside, without anything of this machine's environment but a proxy.
inside() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv TERM=dumb \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" /bin/bash -euo pipefail -c "$1"
}

# Clones the repository to "/srv/my code/minitorch" (a path with a space), and puts the data beside it.
make_clone() {
  local home="$root/srv/my code"
  mkdir -p "$home"
  if [[ -n $worktree ]]; then
    mkdir "$home/minitorch"
    mt_files '*' | tar -C "$MT_ROOT" -cf - --verbatim-files-from -T - | tar -C "$home/minitorch" -xf -
  else
    mkdir "$root/source"
    mount --bind "$MT_ROOT" "$root/source"
    inside 'git config --global --add safe.directory "*"; git clone -q /source "/srv/my code/minitorch"'
    umount "$root/source"
  fi
  if [[ -n $data ]]; then
    mkdir -p "$home/shared/data"
    mount --bind "$data" "$home/shared/data"
    mount -o remount,bind,ro "$home/shared/data"
  fi
}

# step NAME COMMANDS: runs the commands in the clone; the output goes to FOLDER/NAME.log, and its last lines here.
step() {
  local started=$SECONDS status=0
  mt_say "$1: $2"
  inside "cd '/srv/my code/minitorch' && { $2; }" >"$folder/$1.log" 2>"$folder/$1.err" </dev/null || status=$?
  tail -n 12 "$folder/$1.log"
  ((status == 0)) || { tail -n 30 "$folder/$1.err" >&2; mt_die "$1 failed with status $status, see $folder/$1.err"; }
  mt_say "$1: $((SECONDS - started)) s"
}

# Seconds that the builds of a step took, by what the scripts say on stderr.
built_s() { sed -n 's/^minitorch: built .* in \([0-9]*\) s$/\1/p' "$folder/$1.err" | awk '{ total += $1 } END { print total + 0 }'; }

make_base
make_machine
make_clone
inside 'for tool in python3 sudo pkg-config g++ cmake; do ! command -v $tool || exit 1; done; [ ! -e /sys/class ]' ||
  mt_die "the chroot is not as bare as it should be"

run=scripts/run.sh
step run "$run"
step run_again "$run"
step test 'scripts/test.sh'

for name in run test; do mt_say "$name: built in $(built_s "$name") s (limit $limit_s s)"; done
[[ ! -s $folder/run_again.err ]] || mt_say "note: the second run said on stderr: $(head -c 300 "$folder/run_again.err")"
! grep -q '^minitorch: built' "$folder/run_again.err" || mt_die "the second run built something"
(($(built_s run) <= limit_s)) || mt_die "the first build took longer than $limit_s s"
[[ -z $shell ]] || env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv TERM="${TERM:-dumb}" chroot "$root" /bin/bash -l || true
mt_say "a fresh machine runs both commands"
