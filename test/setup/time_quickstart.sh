#!/usr/bin/env bash
# What tool/quickstart takes for somebody who begins: in a new Debian 12 with g++, cmake, ninja,
# python3 and git in it, as the README has it, and with nothing of this machine but its processors.
#
#   time_quickstart.sh FOLDER SOURCE
#
# As root; FOLDER takes some 7 GB while it runs. Prints the last lines of quickstart, with the times
# of its parts, and how busy the machine was.
set -euo pipefail
(($# == 2)) || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
folder=$(realpath -m "$1") source=$(realpath "$2")
root=$folder/root
if [[ -z ${TIME_QUICKSTART_INSIDE:-} ]]; then
  # In a namespace of its own nothing stays mounted, however this ends.
  TIME_QUICKSTART_INSIDE=1 exec unshare --mount "$0" "$folder" "$source"
fi
# The mirror that this machine's own packages come from.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 2>/dev/null |
  sort -u | head -n 1)
rm -rf --one-file-system "$root"
mkdir -p "$folder"
debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" \
  >"$folder/debootstrap.log" 2>&1 || { tail -n 20 "$folder/debootstrap.log"; exit 1; }
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside() {
  chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
    DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}
inside apt-get update >"$folder/packages.log" 2>&1
inside apt-get install -y --no-install-recommends g++ cmake ninja-build python3 git \
  >>"$folder/packages.log" 2>&1 || { tail -n 20 "$folder/packages.log"; exit 1; }
# Whom this machine trusts: its registries may be reached by a proxy.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
# What quickstart installs has to be fetched.
inside apt-get clean
# What git knows, and what is not committed yet.
mkdir "$root/torch-tidy"
git -C "$source" ls-files -z --cached --others --exclude-standard |
  tar -C "$source" --null --files-from=- --ignore-failed-read -cf - | tar -C "$root/torch-tidy" -xf -

echo "before: $(uptime)"
inside sh -c 'cd /torch-tidy && tool/quickstart' >"$folder/quickstart.log" 2>&1 ||
  { tail -n 30 "$folder/quickstart.log"; exit 1; }
echo "after: $(uptime)"
sed -n '/^=== time/,$p' "$folder/quickstart.log"
grep -c ' warning: .*\[torch-' "$folder/quickstart.log"
umount "$root/proc"
rm -rf --one-file-system "$root"
