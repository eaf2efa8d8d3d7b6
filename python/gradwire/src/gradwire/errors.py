"""What can go wrong between a program and Gradwire, with a code that scripts can rely on."""

from __future__ import annotations

__all__ = ["GradwireError", "Stopped"]


class GradwireError(RuntimeError):
    """A failure of the run, or of its use: `code` is stable, `next` says what to do."""

    def __init__(self, code: str, message: str, next: str = "") -> None:
        super().__init__(code, message, next)
        self.code = code
        self.message = message
        self.next = next

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return f"{text}. {self.next}" if self.next else text


class Stopped(SystemExit):
    """The run ends here, as its spec or its user wants; `finally` blocks run, as at sys.exit()."""

    def __init__(self) -> None:
        super().__init__(0)
