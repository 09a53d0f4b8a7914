#!/usr/bin/env bash
# Builds the plugin for a newer clang-tidy in a new Debian that has one, and holds what it finds
# there against what the plugin of the build finds in this machine's clang-tidy 19.
#
#   newer_host.sh FOLDER SOURCE BUILD LIBTORCH [VERSION SUITE]
#
# VERSION is that of LLVM (21), SUITE a Debian that has it (sid). As root. It takes some 2 GB, and
# some half an hour on two quiet cores. FOLDER/19.txt and FOLDER/VERSION.txt hold the findings; what
# differs is printed, and ends with 1.
set -euo pipefail
(($# >= 4)) || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
folder=$(realpath -m "$1") source=$(realpath "$2") build=$(realpath "$3") libtorch=$(realpath "$4")
version=${5:-21} suite=${6:-sid}
root=$folder/root

# The mirror that this machine's own packages come from.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 2>/dev/null |
  sort -u | head -n 1)
mkdir -p "$folder"
said() { # LOG COMMAND...: only what fails says what it did
  local log=$folder/$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 30 "$log"; echo "newer_host: error: see $log" >&2; exit 1; }
}
inside() {
  chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# What a run before this one has installed is used again.
if [[ ! -e $root/debootstrapped ]]; then
  rm -rf --one-file-system "$root"
  said debootstrap.log debootstrap --variant=minbase "$suite" "$root" "$mirror"
  touch "$root/debootstrapped"
fi
# By the same names inside, for messages have them.
mkdir -p "$root$source" "$root$libtorch"
# In a namespace of its own nothing stays mounted, however this ends.
if [[ -z ${NEWER_HOST_INSIDE:-} ]]; then
  NEWER_HOST_INSIDE=1 exec unshare --mount "$0" "$folder" "$source" "$build" "$libtorch" \
    "$version" "$suite"
fi
mount -t proc proc "$root/proc"
mount --bind "$source" "$root$source"
mount --bind "$libtorch" "$root$libtorch"
if [[ ! -e $root/installed ]]; then
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # A mirror that stands still is as good, and its lists are signed all the same.
  said update.log inside apt-get -o Acquire::Check-Valid-Until=false update
  # libgtest-dev: some tests of checks are tests themselves.
  said install.log inside apt-get install -y --no-install-recommends cmake ninja-build g++ \
    python3 libgtest-dev "clang-$version" "clang-tidy-$version" "libclang-$version-dev" "llvm-$version-dev"
  touch "$root/installed"
fi
inside "clang-tidy-$version" --version | grep version

said configure.log inside cmake -G Ninja -S "$source" -B "/build-$version" \
  -DTORCH_TIDY_LLVM="$version" -DTORCH_TIDY_CCACHE=OFF \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 \
  -DCMAKE_CXX_COMPILER="clang++-$version" -DCMAKE_C_COMPILER="clang-$version"
said build.log inside ninja -C "/build-$version"
inside python3 "$source/test/setup/host_findings.py" "clang++-$version" "clang-tidy-$version" \
  "/build-$version/lib/TorchTidy.so" "$libtorch" "$source" >"$folder/$version.txt"
"$source/test/setup/host_findings.py" clang++-19 clang-tidy-19 "$build/lib/TorchTidy.so" \
  "$libtorch" "$source" >"$folder/19.txt"
wc -l "$folder/19.txt" "$folder/$version.txt" | head -n 2
diff "$folder/19.txt" "$folder/$version.txt" && echo "the findings are the same"
