"""Map what a model raises while it runs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from commitgate.errors import ModelRunError


@contextmanager
def model_breaks() -> Generator[None]:
    """Turn whatever a model raises into ``ModelRunError``, without its message, which may quote the prompt.

    A model is code of any origin over weights of any origin: torch alone raises RuntimeError, IndexError, TypeError
    and more for a wrong shape, memory or device. The original stays chained.
    """
    try:
        yield
    except ModelRunError:
        raise
    except Exception as error:
        raise ModelRunError(f"the model broke while running ({type(error).__name__})") from error


__all__ = ["model_breaks"]
