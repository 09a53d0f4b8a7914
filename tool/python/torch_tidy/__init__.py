"""The programs of torch-tidy that pip has installed into an environment.

`python -m torch_tidy` runs the torch-tidy of this Python's environment, also where its
programs are not on the path.
"""

import os
import sysconfig
from pathlib import Path

__all__ = ["program"]


def program(name: str = "torch-tidy") -> Path:
    """Where torch-tidy, torch-clangd or torch-confirm is; FileNotFoundError where not."""
    folders = [sysconfig.get_path("scripts")]
    # pip install --user, and pip install --target FOLDER.
    # Python 3.8 and 3.9 do not say which scheme that is.
    scheme = getattr(sysconfig, "get_preferred_scheme", lambda _: f"{os.name}_user")
    folders.append(sysconfig.get_path("scripts", scheme("user")))
    folders.append(str(Path(__file__).resolve().parent.parent / "bin"))
    for folder in folders:
        found = Path(folder, name)
        if found.is_file():
            return found
    raise FileNotFoundError(f"{name} is in none of {', '.join(folders)}: install torch-tidy "
                            "again with pip")
