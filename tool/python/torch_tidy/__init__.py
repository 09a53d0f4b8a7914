"""The programs of torch-tidy that pip has installed into an environment.

`python -m torch_tidy` runs the torch-tidy of this Python's environment, also where its
programs are not on the path.
"""

import os
import sys
import sysconfig
from pathlib import Path

__all__ = ["program"]


def program(name: str = "torch-tidy") -> Path:
    """Where torch-tidy, torch-clangd or torch-confirm is; FileNotFoundError where not."""
    folders = [sysconfig.get_path("scripts")]
    # pip install --user, and pip install --target FOLDER.
    if sys.version_info >= (3, 10):
        user = sysconfig.get_preferred_scheme("user")
    else:
        user = {"nt": "nt_user"}.get(os.name, "posix_user")
    folders.append(sysconfig.get_path("scripts", scheme=user))
    folders.append(str(Path(__file__).resolve().parent.parent / "bin"))
    for folder in folders:
        found = Path(folder, name)
        if found.is_file():
            return found
    raise FileNotFoundError(f"{name} is in none of {', '.join(folders)}: install torch-tidy "
                            "again with pip")
