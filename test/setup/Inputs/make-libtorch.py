"""Writes folders that look like LibTorch to CMake, in the layouts there are."""

import re
import sys
from pathlib import Path


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tree(root: Path, version: str, lib: str = "lib") -> None:
    major, minor, patch = version.split(".")
    api = root / "include/torch/csrc/api/include/torch"
    write(api / "torch.h")
    write(api / "version.h", f"#define TORCH_VERSION_MAJOR {major}\n"
          f"#define TORCH_VERSION_MINOR {minor}\n#define TORCH_VERSION_PATCH {patch}\n")
    write(root / lib / "libtorch_cpu.so")
    write(root / lib / "libc10.so")


trees = Path(sys.argv[1])
tree(trees / "old", "1.13.1")
write(trees / "old/share/cmake/Torch/TorchConfig.cmake",
      'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")\n')
tree(trees / "debian", "1.13.0", "lib/x86_64-linux-gnu")
write(trees / "debian/lib/x86_64-linux-gnu/cmake/Torch/TorchConfig.cmake")
site = trees / "venv/lib/python3.9/site-packages"
tree(site / "torch", "2.5.0")
write(site / "nvidia/cuda_runtime/include/cuda_runtime.h")

pins = Path(__file__).resolve().parents[3] / "third_party/libtorch-requirements.txt"
(version,) = re.findall(r"^torch==(\S+)", pins.read_text(), re.M)
tree(trees / f"cache/libtorch-{version}/torch", version)
write(trees / f"cache/libtorch-{version}/.torch-tidy-stamp")
