#!/usr/bin/env bash
# The package in new Debians that test/setup/package-run.test does not make: 13 and testing, with
# clean_root.sh. The findings have to be those of the development build, letter by letter.
#
#   clean_roots.sh FOLDER PACKAGES SOURCE BUILD LIBTORCH
#
# PACKAGES is the folder that tool/package has written, BUILD the development build. As root.
set -euo pipefail
(($# == 5)) || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
folder=$(realpath -m "$1") packages=$(realpath "$2") source=$(realpath "$3") build=$(realpath "$4")
libtorch=$(realpath "$5")
mkdir -p "$folder"

# One without a build folder above it.
example=$(mktemp -d)
trap 'rm -rf "$example"' EXIT
cp -r "$source/test/apps/example/." "$example"
(cd "$example" && LIBTORCH=$libtorch "$build/bin/torch-tidy" --quiet . 2>"$folder/here-said.txt") |
  sed "s|$example/||g" >"$folder/here.txt"
findings=$(grep -c ' warning: ' "$folder/here.txt")

failed=0
for suite in trixie testing; do
  root=$folder/$suite
  "$source/test/setup/clean_root.sh" "$root" "$packages" "$source" "$libtorch" "$suite" \
    libstdc++-14-dev >"$folder/$suite.log" 2>&1 || { tail -n 20 "$folder/$suite.log"; exit 1; }
  # testing says its name only, and has no number.
  release=$(. "$root/root/etc/os-release" && echo "$PRETTY_NAME")
  for kind in wheel archive; do
    sed -i 's|/example/||g' "$root/$kind.txt"
    if diff "$folder/here.txt" "$root/$kind.txt"; then
      echo "$release, $kind: the same $findings findings"
    else
      echo "$release, $kind: other findings"
      failed=1
    fi
  done
  rm -rf --one-file-system "$root/root"
done
exit $failed
