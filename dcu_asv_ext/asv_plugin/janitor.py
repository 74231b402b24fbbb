"""What asv cannot do once it is killed: end the process groups it was measuring, and clear its scratch folder.

The kernel ends asv's direct children with it. What those children started themselves (a whole-process measurement, a
compiler, a benchmark's own workers) is in their process group, which each measuring process writes down in the
scratch folder. A small process waits for asv's end of a pipe to close, which happens however asv ends.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: Name of the file beside a measurement's record that holds its process group.
GROUP = "group"

_SCRIPT = """
import glob, os, shutil, signal, sys
sys.stdin.buffer.read()
folder = sys.argv[1]
for path in glob.glob(os.path.join(glob.escape(folder), "measure-*", "group")):
    try:
        with open(path) as stream:
            os.killpg(int(stream.read()), signal.SIGKILL)
    except (OSError, ValueError):
        pass
shutil.rmtree(folder, ignore_errors=True)
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Watch over this process and its scratch folder. The returned process must be kept: it holds the pipe.

    In a session of its own, so that a signal for asv's terminal does not end it first.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _SCRIPT, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
