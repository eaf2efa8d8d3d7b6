"""A PyTorch training under Gradwire.

    gw = gradwire.join()
    model = DistributedDataParallel(model)
    gw.attach(model, optimizer)

To import this package costs nothing; PyTorch is imported by `join`. docs/pytorch.md says more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import SupportsFloat

from .errors import GradwireError, Stopped
from .requirement import require_torch
from .session import CLAIMED, Session, bridge, current, set_current
from .version import __version__

__all__ = ["GradwireError", "Session", "Stopped", "__version__", "join", "log"]


def join() -> Session:
    """Joins the run that this program is a rank of.

    Without one it says so, once, and gives a session that does nothing. Raises GradwireError.
    """
    session = current()
    if session is not None:
        return session
    path = bridge()
    if path is None:
        # A child of the process that has joined, such as a DataLoader's, has nothing to say.
        if CLAIMED not in os.environ:
            print(
                "gradwire: not started by Gradwire (no run waits for this process): "
                "the program keeps its own communication",
                file=sys.stderr,
            )
        session = Session()
    else:
        require_torch()
        from .joined import JoinedProgram

        # If PyTorch was imported only now, an observed program has got its session by that.
        session = current() or JoinedProgram.connect(path)
    set_current(session)
    return session


def log(values: Mapping[str, SupportsFloat] | None = None, /, **named: SupportsFloat) -> None:
    """Shows numbers beside the step that was made last, in a program that joined or is observed."""
    session = current()
    if session is not None:
        session.log(values, **named)
