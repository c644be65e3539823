"""Turn whatever went wrong while a request was served into its answer: the one boundary of the server's errors."""

from __future__ import annotations

from commitgate.backends.base import WaitExpired
from commitgate.errors import BackendError, ContractError
from commitgate_local.server.metrics import RequestOutcome
from commitgate_local.server.refusal import (
    SERVER_ERROR,
    RequestRefused,
    of_backend,
    of_contract,
    overloaded,
)
from commitgate_local.server.serving import LOGGER


def refusal_of(error: Exception, *, param: str | None = None) -> RequestRefused:
    """Return what a client is told of an error.

    Args:
        error: what was raised.
        param: the field of the body that the contract came in, where one is known.
    """
    match error:
        case RequestRefused():
            return error
        case ContractError():
            return of_contract(error, param=param)
        case WaitExpired():
            return overloaded()
        case BackendError():
            refused = of_backend(error)
        case _:
            refused = RequestRefused(500, "server_error", "the server failed", type=SERVER_ERROR)
    # Its text and its traceback may quote what the client sent or the model wrote.
    LOGGER.error("a request failed: %s", type(error).__name__)
    return refused


def outcome_of(refused: RequestRefused) -> RequestOutcome:
    """Return what a refusal counts as."""
    match refused.status:
        case 401:
            return RequestOutcome.UNAUTHORIZED
        case 429 | 503:
            return RequestOutcome.OVERLOADED
        case 504:
            return RequestOutcome.TIME_LIMIT
        case status if status < 500:
            return RequestOutcome.REFUSED
        case _:
            return RequestOutcome.FAILED


__all__ = ["outcome_of", "refusal_of"]
