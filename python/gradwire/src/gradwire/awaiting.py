"""Finds the rank that waits for this process, where torchrun or another launcher has started it.

Such a rank waits at a socket in a directory whose name says run, number of ranks and rank; only
this user may write there.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import time
from pathlib import Path

from .errors import GradwireError

PARENT = "/tmp"
NAME = "gradwire-awaiting"
# A rank that makes its directory listens in it at once.
OLD_SECONDS = 60


def awaiting_bridge(parent: str = PARENT) -> str | None:
    """Path of the socket of the rank that waits for this process; None if no run waits.

    Raises GradwireError `AWAITED_TWICE` if several runs do, and `BRIDGE_UNREACHABLE` if the run
    that GRADWIRE_RUN names does not wait for such a rank here.
    """
    run = os.environ.get("GRADWIRE_RUN") or None
    place = rank_and_world()
    folder = Path(parent) / f"{NAME}-{os.getuid()}"
    if place is None or not _is_own(folder):
        found: list[str] = []
    else:
        rank, world = place
        ending = f".{world}.{rank}"
        found = sorted(one.name for one in folder.iterdir() if one.name.endswith(ending))
        if run is not None:
            found = [name for name in found if name == f"{run}{ending}"]
        found = [name for name in found if not _is_left_behind(folder / name)]
    if len(found) > 1:
        runs = ", ".join(name.split(".")[0] for name in found)
        raise GradwireError(
            "AWAITED_TWICE",
            f"several runs wait for this rank: {runs}",
            "Set GRADWIRE_RUN to the id of one of them",
        )
    if found:
        return str(folder / found[0] / "bridge")
    # A launcher's own process has no rank.
    if run is None or place is None:
        return None
    raise GradwireError(
        "BRIDGE_UNREACHABLE",
        f"run {run} does not wait for rank {place[0]} of {place[1]} on this machine",
        "Start as many processes as the run has ranks, each on its machine; "
        "unset GRADWIRE_RUN to run the program without Gradwire",
    )


def rank_and_world() -> tuple[int, int] | None:
    """Rank and number of ranks: as the launcher says, or as the process group does."""
    rank, world = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if rank.isdigit() and world.isdigit():
        return int(rank), int(world)
    # Whoever has a process group has imported it.
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available():
        return None
    if not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _is_left_behind(place: Path) -> bool:
    """Whether nobody listens there any more: its rank was killed. Old remains are removed."""
    is_old = False
    try:
        is_old = time.time() - place.stat().st_mtime > OLD_SECONDS
        # Of another type, it reaches nobody: a rank takes its first connection for its program.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            probe.connect(str(place / "bridge"))
    except ConnectionRefusedError:
        gone = True
    except FileNotFoundError:
        gone = is_old or not place.exists()
    except OSError:
        gone = False
    else:
        gone = False
    if gone and is_old:
        shutil.rmtree(place, ignore_errors=True)
    return gone


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_private = not stat.S_IMODE(found.st_mode) & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and is_private
