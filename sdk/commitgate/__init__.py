"""Turn a language model's output into an object that a program may act on: whole, valid, allowed, at most once."""

from commitgate.backends.base import Message, Sampling
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectContext, TransactionContext
from commitgate.effect_kind import EffectKind
from commitgate.effect_mark import by_key, once, transactional
from commitgate.errors import CommitgateError, EffectRejected, NotationError
from commitgate.finding import Applied, NotApplied, Unknown
from commitgate.gate.check_context import CheckContext
from commitgate.gate.content import each_untrusted, refuse_hidden_characters
from commitgate.gate.layers import Failure, Layer, LayerRecord
from commitgate.gate.rules import Rule, RuleViolation
from commitgate.languages import AnyJson, Choices, Edge, Grammar, Machine, Regex
from commitgate.limits import Limits
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    DeadEnd,
    Disconnected,
    EffectFailed,
    Ending,
    Filtered,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Receipt,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)
from commitgate.preview import Preview, Reset
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry, RetryBudget
from commitgate.risk import Risk
from commitgate.run.active import Drained
from commitgate.run.approval import PendingApproval
from commitgate.run.structured_run import StructuredRun
from commitgate.style import FreeSpace, Style
from commitgate.template import ContractTemplate
from commitgate.timeouts import Timeouts
from commitgate.tools.call_result import CallResult
from commitgate.tools.tool import tool
from commitgate.untrusted_text import UntrustedText

__all__ = [
    "AnyJson",
    "Applied",
    "CallResult",
    "Cancelled",
    "CheckContext",
    "Choices",
    "Client",
    "CommitgateError",
    "Committed",
    "CompileFailed",
    "Contract",
    "ContractTemplate",
    "DeadEnd",
    "Disconnected",
    "Drained",
    "Edge",
    "EffectContext",
    "EffectFailed",
    "EffectKind",
    "EffectRejected",
    "Ending",
    "Failure",
    "Filtered",
    "FreeSpace",
    "Grammar",
    "InDoubt",
    "Invalid",
    "Layer",
    "LayerRecord",
    "Limits",
    "Machine",
    "Message",
    "NeedsApproval",
    "NotApplied",
    "NotationError",
    "Outcome",
    "PendingApproval",
    "Preview",
    "Reasoning",
    "Receipt",
    "Refused",
    "Regex",
    "Reset",
    "Retry",
    "RetryBudget",
    "Risk",
    "Rule",
    "RuleViolation",
    "Sampling",
    "StructuredRun",
    "Style",
    "TimedOut",
    "Timeouts",
    "TransactionContext",
    "Truncated",
    "Unavailable",
    "Unknown",
    "Unsupported",
    "UntrustedText",
    "Violated",
    "by_key",
    "each_untrusted",
    "once",
    "refuse_hidden_characters",
    "tool",
    "transactional",
]
