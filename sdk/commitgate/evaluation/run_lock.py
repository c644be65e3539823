"""Hold a file for one process alone, for as long as it is open."""

from __future__ import annotations

import os
import sys


def lock_file(descriptor: int) -> bool:
    """Lock an open file; return whether that succeeded. Closing it, or the end of the process, unlocks it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # Far behind the end, since what is locked there cannot be written by anybody else.
            place = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, 1 << 40, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, place, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


__all__ = ["lock_file"]
