#!/bin/sh
# A virtual environment with the package, its tools and a torch: the interpreter's own where it has one.
set -eu
if "$PYTHON" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; then
    "$PYTHON" -m venv --system-site-packages "$VENV"
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check -e '.[tools]'
else
    "$PYTHON" -m venv "$VENV"
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check 'torch==2.13.0'
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check -e '.[dev]'
fi
