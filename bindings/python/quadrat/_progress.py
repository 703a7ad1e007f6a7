"""How a long call tells how far it is: a callback, or a line on the terminal (tqdm where it is installed)."""
from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

Progress = Union[None, bool, Callable[[float], Any]]


class _Line:
    """One line on stderr."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._written = False

    def __call__(self, fraction: float) -> None:
        self._written = True
        print(f"\r{self._what}: {100 * fraction:3.0f} %", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._written:
            print(f"\r{self._what}: done ", file=sys.stderr)


class _Tqdm:
    """The same by tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, fraction: float) -> None:
        self._bar.update(max(0.0, fraction - self._bar.n))

    def close(self) -> None:
        self._bar.close()


class Following:
    """`with Following(progress, "what") as callback:`; the callback is None where nobody wants to know."""

    __slots__ = ("_made", "_callback")

    def __init__(self, progress: Progress, what: str) -> None:
        self._made: Optional[Union[_Line, _Tqdm]] = None
        if progress is None or progress is False:
            self._callback: Optional[Callable[[float], Any]] = None
        elif progress is True:
            try:
                from tqdm.auto import tqdm

                self._made = _Tqdm(tqdm(total=1.0, desc=what, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}"))
            except ImportError:
                self._made = _Line(what)
            self._callback = self._made
        elif callable(progress):
            self._callback = progress
        else:
            raise TypeError("progress: expected True, False or a function of the share that is done")

    def __enter__(self) -> Optional[Callable[[float], Any]]:
        return self._callback

    def __exit__(self, *_: object) -> None:
        if self._made is not None:
            self._made.close()
