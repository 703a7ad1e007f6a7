"""python -m quadrat: the command line. It is a program of its own, `quadrat`, which `make build` makes: beside the package, in
the directory that QUADRAT names, or on the PATH."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn, Optional


def program() -> Optional[str]:
    """The path of the program, or None."""
    named = os.environ.get("QUADRAT")
    here = Path(__file__).resolve().parent
    built = Path(os.path.abspath(os.path.dirname(__file__))).parent.parent / "quadrat"
    for path in ([Path(named)] if named else []) + [here / "bin" / "quadrat", built]:
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return shutil.which("quadrat")


def main() -> NoReturn:
    found = program()
    if found is None:
        print("quadrat: the command line is not installed; build it with `make build`, and put it on the PATH", file=sys.stderr)
        raise SystemExit(1)
    os.execv(found, [found, *sys.argv[1:]])


if __name__ == "__main__":
    main()
