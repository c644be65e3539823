"""Name the packages that the site has a page for, made of their docstrings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Package:
    """One public package or module.

    Attributes:
        name: as it is imported.
        about: one sentence with a link to the page that tells how it is used.
    """

    name: str
    about: str


PACKAGES: tuple[Package, ...] = (
    Package("commitgate", "What most programs need. In short: [the reference](../reference.md)."),
    Package("commitgate.endings", "How it is used: [Outcomes](../outcomes.md#handlers)."),
    Package("commitgate.errors", "How calls end without them: [Outcomes](../outcomes.md)."),
    Package("commitgate.preview", "How it is used: [Previews in a user interface](../previews.md)."),
    Package("commitgate.tools", "How it is used: [Letting a model call functions](../tools.md)."),
    Package("commitgate.template", "How it is used: [Schemas with parameters](../templates.md)."),
    Package("commitgate.sync", "How it is used: [Without an event loop](../usage.md#without-an-event-loop)."),
    Package("commitgate.testing", "How it is used: [Testing your program](../testing.md)."),
    Package("commitgate.testing.conformance", "How it is used: [A backend of your own](../backends.md)."),
    Package("commitgate.evaluation", "How it is used: [Evaluating a model](../evaluation.md)."),
    Package("commitgate.evaluation.adversarial", "How it is used: [The adversarial set](../adversarial.md)."),
    Package("commitgate.evaluation.report", "How it is used: [Evaluating a model](../evaluation.md)."),
    Package("commitgate.preflight", "How it is used: [Before a launch](../preflight.md)."),
    Package("commitgate.telemetry", "How it is used: [Telemetry](../telemetry.md)."),
    Package("commitgate.trace", "How it is used: [Looking at one generation](../inspect.md)."),
    Package("commitgate.lint", "How it is used: [Linting a schema](../lint.md)."),
    Package("commitgate.probe", "How it is used: [Probing a server](../probes.md)."),
    Package("commitgate.ledger", "How it is used: [The ledger](../ledger.md)."),
    Package("commitgate.automaton", "What it promises: [What is enforced where](../enforcement.md)."),
    Package("commitgate.backends.base", "How one is written: [A backend of your own](../backends.md)."),
    Package("commitgate.backends.dialect", "How one is written: [A backend of your own](../backends.md)."),
    Package("commitgate.backends.remote", "How it is used: [A backend of your own](../backends.md)."),
    Package("commitgate.backends.local", "How it is used: [Models on this machine](../local-models.md)."),
    Package("commitgate.backends.commitgate_server", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.openai_chat", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.openai_responses", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.anthropic", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.gemini", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.vllm", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.nim", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.sglang", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.llama_cpp", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.ollama", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate.backends.tgi", "How it is used: [Asking a server](../servers.md)."),
    Package("commitgate_local", "How it is used: [The masks in `model.generate`](../mask-processor.md)."),
)

__all__ = ["PACKAGES", "Package"]
