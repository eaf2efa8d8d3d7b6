"""The loss that an observed program prints, for the records of steps of which it logs none.

What a line says of a loss is taken as it stands: `step 12 loss 1.5389`, `{'loss': 2.31, …}`,
`Train Epoch: 1 [640/60000]  Loss: 0.25`. A line about validation or a test is not, nor a number
that could be read in two ways.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

__all__ = ["LineReader", "printed_loss", "watch_stream"]

_MOST_KEPT = 2000
"""Characters of a line: what is beyond is not looked at."""

_ENDS = re.compile(r"([\r\n])")
_OTHER_DATA = re.compile(
    r"(?<![a-z])(?:val|valid(?:ation)?|test(?:ing)?|eval(?:uation)?|dev)(?![a-z])", re.IGNORECASE
)
# Without a sign between them only a number with a fraction is meant: not the 3 of `loss 3 of 5`.
_LOSS = re.compile(
    r"""(?<![\w./-]) (?:train(?:ing)?[\s_/-])? loss ['"]? \s*
        (?: [:=] \s* (?:tensor\(|['"])? (?P<told> [-+]? (?: \d+ (?:\.\d*)? | \.\d+ ) (?:e[-+]?\d+)?
                     | [-+]? (?:nan|inf) )
          | \s (?:tensor\()? (?P<beside> [-+]? (?: \d+\.\d+ (?:e[-+]?\d+)? | nan | inf ) ) )
        (?! \w | %| [.,]\d )""",
    re.IGNORECASE | re.VERBOSE,
)


def printed_loss(line: str) -> float | None:
    """The loss that a line tells, if it tells one of training."""
    found = _LOSS.search(line)
    if found is None or _OTHER_DATA.search(line, 0, found.start()):
        return None
    return float(found["told"] or found["beside"])


class LineReader:
    """Takes text as it is written, and tells the loss of each line that has one."""

    def __init__(self, tell: Callable[[float, str], object]) -> None:
        self._tell = tell
        self._begun = ""
        self._drawn: float | None = None
        """The loss of the line that was drawn last."""

    def write(self, text: str) -> None:
        """Takes text that ends anywhere."""
        for part in _ENDS.split(text):
            if part in ("\r", "\n"):
                self._end(is_drawn=part == "\r")
            else:
                self._begun = (self._begun + part)[:_MOST_KEPT]
        if text.startswith("\r"):
            # A bar is drawn in one go, and what follows it draws it again.
            self._end(is_drawn=True)

    def _end(self, *, is_drawn: bool) -> None:
        """Reads the line; one that is drawn again and says the same has nothing new to say."""
        line, self._begun = self._begun, ""
        loss = printed_loss(line)
        if loss is None or (is_drawn and loss == self._drawn):
            return
        if is_drawn:
            self._drawn = loss
        self._tell(loss, line)


def watch_stream(stream: Any, read: Callable[[str], object]) -> None:
    """Lets `read` see each text that is written to a stream, after it has been written.

    The stream stays the object that it is: programs compare it, and ask it for its descriptor.
    """
    original = getattr(stream, "write", None)
    if original is None:
        return

    def write(text: str) -> Any:
        written = original(text)
        read(text)
        return written

    # One that cannot be watched is left alone.
    with contextlib.suppress(AttributeError):
        stream.write = write
