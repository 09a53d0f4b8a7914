"""See __init__.py."""

import os
import sys

from . import program

try:
    found = str(program())
except FileNotFoundError as error:
    sys.exit(f"torch_tidy: error: {error}")
# In place of Python: its signals and its exit code are those of the program.
os.execv(found, [found, *sys.argv[1:]])
