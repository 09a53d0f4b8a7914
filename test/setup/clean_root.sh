#!/usr/bin/env bash
# Makes a new Debian with python3, pip and the headers of C and C++ in it, and nothing
# else: no compiler, no LLVM. Installs torch-tidy there from what tool/package has made,
# and analyses the example application with it.
#
#   clean_root.sh FOLDER PACKAGES SOURCE LIBTORCH [SUITE HEADERS]
#
# SUITE is bookworm (12), or another, of which HEADERS names the package of the C++ headers:
# libstdc++-14-dev in trixie (13) and in testing.
# FOLDER/wheel.txt and FOLDER/archive.txt hold the findings, of the program that pip has
# installed and of that in the archive.
set -euo pipefail
folder=$1 packages=$2 source=$3 libtorch=$4 suite=${5:-bookworm} headers=${6:-libstdc++-12-dev}
root=$folder/root

# The mirror that this machine's own packages come from.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 2>/dev/null |
  sort -u | head -n 1)
rm -rf "$root"
mkdir -p "$folder"
debootstrap --variant=minbase --include="python3,python3-pip,$headers" \
  "$suite" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
  { tail -n 20 "$folder/debootstrap.log"; exit 1; }

# Programs find what lies beside them by /proc/self/exe.
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT

inside() { chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
if inside sh -c 'command -v c++ clang clang-tidy gcc'; then
  echo "the root has a compiler"
  exit 1
fi

# Where pip puts LibTorch's wheel; headers are all that torch-tidy wants of it.
torch=$root$(inside python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch
mkdir -p "$torch" "$root/packages" "$root/example"
touch "$torch/__init__.py"
cp -r "$libtorch/include" "$torch"
cp "$packages"/torch_tidy-*.whl "$packages"/torch-tidy-*.tar.gz "$root/packages"
cp -r "$source/test/apps/example/." "$root/example"

inside sh -c 'pip install -q --no-index --break-system-packages --root-user-action=ignore /packages/*.whl'
inside sh -c 'cd /example && torch-tidy --quiet .' >"$folder/wheel.txt" 2>"$folder/wheel-said.txt"
inside torch-tidy --explain=torch-retained-graph >"$folder/page.txt"
head -n 1 "$folder/page.txt"
inside torch-confirm --version
# Of the environment, whatever the path is; and nothing of it where a Clang has its own.
inside env PATH=/usr/bin:/bin python3 -m torch_tidy --version | grep -o 'torch-tidy version'
inside sh -c 'ls -d /usr/local/lib/clang 2>/dev/null' && exit 1
cp -r "$root/example" "$root/edited"
printf '%s\n' -std=c++17 -I. -isystem "${torch#"$root"}/include" \
  -isystem "${torch#"$root"}/include/torch/csrc/api/include" >"$root/edited/compile_flags.txt"
inside sh -c 'cd /edited && torch-clangd --check=charlm/trainer.cpp' \
  >"$folder/clangd.txt" 2>&1 || { tail -n 20 "$folder/clangd.txt"; exit 1; }
inside pip uninstall -q -y --break-system-packages --root-user-action=ignore torch-tidy
if inside sh -c 'command -v torch-tidy'; then
  echo "pip leaves torch-tidy behind"
  exit 1
fi

inside sh -c 'mkdir -p /opt/tidy && tar xzf /packages/*.tar.gz --strip-components=1 -C /opt/tidy'
inside sh -c 'cd /example && /opt/tidy/bin/torch-tidy --quiet .' >"$folder/archive.txt" 2>"$folder/archive-said.txt"
inside sh -c 'ls /opt/tidy /opt/tidy/lib'
