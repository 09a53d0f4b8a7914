#!/usr/bin/env bash
# Makes packages in a folder that stands, for this process, in the place of the build folder:
# commands are then those of the build itself, and where that used ccache little is compiled twice.
#
#   package_here.sh SOURCE BUILD OUTPUT
set -euo pipefail
source=$1 build=$2 output=$3
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
mkdir -p "$build/test/package" "$output"
cd /
unshare --mount bash -euc '
  mount --bind "$2/test/package" "$2"
  # As the build was configured for CI.
  CMAKE_ARGS=-DTORCH_TIDY_WERROR=ON "$1/tool/package" --output "$3" --build "$2"
' - "$source" "$build" "$packages"
cp "$packages"/* "$output"
