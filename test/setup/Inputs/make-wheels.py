"""Writes two tiny wheels and a requirements file that pins them: what
third_party/fetch-libtorch needs to be tried without a network."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def wheel(folder: Path, name: str, version: str, tag: str, files: dict[str, str]) -> str:
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA":
             f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    record = ""
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            sum_ = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            record += f"{file},sha256={sum_.rstrip(b'=').decode()},{len(text)}\n"
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name.replace('_', '-')}=={version} \\\n    --hash=sha256:{digest}\n"


wheels, requirements = Path(sys.argv[1]), Path(sys.argv[2])
wheels.mkdir(parents=True, exist_ok=True)
requirements.write_text(
    wheel(wheels, "torch", "1.99.0", "cp311-cp311-manylinux_2_28_x86_64",
          {"torch/include/torch/csrc/api/include/torch/torch.h": "#pragma once\n",
           "torch/lib/libc10.so": "c10"})
    + wheel(wheels, "nvidia_small", "13.0.1", "py3-none-manylinux2014_x86_64",
            {"nvidia/cu13/include/cuda.h": "#pragma once\n"}))
