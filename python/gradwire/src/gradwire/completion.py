"""A thread that waits for communication of an observed program to end.

PyTorch can call back by itself, but from threads of its own, which then need Python: if the program
ends meanwhile, they abort it.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

Wait = Callable[[], object]
Ended = Callable[["BaseException | None"], object]

_LAST_SECONDS = 1.0


class CompletionThread:
    """Waits for one thing after the other, in the order in which they began."""

    def __init__(self) -> None:
        self._awaited: queue.SimpleQueue[tuple[Wait, Ended, Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def after(self, wait: Wait, ended: Ended, context: Any = None) -> None:
        """Calls `ended` once `wait` has returned, with the error that it raised; both within the
        context, such as a stream of their own, if there is one."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="gradwire", daemon=True)
            self._thread.start()
        self._awaited.put((wait, ended, context))

    def stop(self) -> None:
        """Ends the thread, unless it waits for what does not end."""
        if self._thread is not None:
            self._awaited.put(None)
            self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        while (item := self._awaited.get()) is not None:
            wait, ended, context = item
            error: BaseException | None = None
            with context or contextlib.nullcontext():
                try:
                    wait()
                except Exception as raised:
                    error = raised
                ended(error)
            # Nothing of it shall live until the next one comes.
            del item, wait, ended, context, error
