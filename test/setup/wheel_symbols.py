#!/usr/bin/env python3
"""Which versions of the symbols of glibc and libstdc++ the programs and libraries of a wheel ask
for, the newest of each, held against what the distributions have that docs/install.md names.

usage: wheel_symbols.py WHEEL

Needs pyelftools (package-requirements.txt).
"""

import io
import re
import sys
import zipfile

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

# What a new installation has: glibc by the package libc6, libstdc++6 by that of the same name,
# whose newest GLIBCXX and CXXABI are those of the GCC that it was built from (12.2, 12.3, 14.2).
HAVE = {
    "Debian 12": {"GLIBC": "2.36", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"},
    "Ubuntu 22.04": {"GLIBC": "2.35", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"},
    "Ubuntu 24.04": {"GLIBC": "2.39", "GLIBCXX": "3.4.33", "CXXABI": "1.3.15", "GCC": "14.0.0"},
}
SYMBOL = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)")


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(word) for word in version.split("."))


def needed(content: bytes) -> dict[str, str]:
    """The newest version of each family, of the symbols that an ELF file does not have itself."""
    newest: dict[str, str] = {}
    for section in ELFFile(io.BytesIO(content)).iter_sections():
        if not isinstance(section, GNUVerNeedSection):
            continue
        for _, entries in section.iter_versions():
            for entry in entries:
                match = SYMBOL.fullmatch(entry.name)
                if match and parts(match[2]) > parts(newest.get(match[1], "0")):
                    newest[match[1]] = match[2]
    return newest


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"{(__doc__ or '').strip()}")
    newest: dict[str, str] = {}
    failed = False
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for name in sorted(wheel.namelist()):
            content = wheel.read(name)
            if not content.startswith(b"\x7fELF"):
                continue
            wants = needed(content)
            print(f"{name.rsplit('/', 1)[-1]}:",
                  " ".join(f"{family}_{wants[family]}" for family in sorted(wants)) or "none")
            for family, version in wants.items():
                newest[family] = max(newest.get(family, "0"), version, key=parts)
                for system, have in HAVE.items():
                    if parts(version) > parts(have[family]):
                        print(f"error: {name} asks for {family}_{version}; {system} has "
                              f"{family}_{have[family]} at most")
                        failed = True
    # pip goes by the name. What it promises has to be what is asked for: an older glibc would be
    # offered programs that do not start, a newer name be refused where they would.
    tag = re.search(r"manylinux_(\d+)_(\d+)_", sys.argv[1])
    if not newest:
        sys.exit(f"error: there is no program in {sys.argv[1]}")
    if tag and f"{tag[1]}.{tag[2]}" != newest["GLIBC"]:
        print(f"error: the wheel is named after glibc {tag[1]}.{tag[2]}, and its programs ask for "
              f"{newest['GLIBC']}")
        failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
