"""Read a function's signature as the form of its arguments, or say at once why a model cannot fill it in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, cast, get_args, get_origin, get_type_hints

from commitgate.effect import EffectContext
from commitgate.errors import MisuseError

if TYPE_CHECKING:
    from pydantic import BaseModel

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Hold what a tool's function takes.

    Attributes:
        model: the model of its arguments; its fields are named as its parameters.
        context_name: the parameter that takes the effect's context; None where there is none.
        context_type: the type of that parameter.
        result: the return annotation; ``inspect.Parameter.empty`` where there is none.
    """

    model: type[BaseModel] = field(repr=False)
    context_name: str | None
    context_type: type[EffectContext] | None
    result: object = field(repr=False)

    @staticmethod
    def of(function: Callable[..., object], name: str) -> Signature:
        """Read a function's signature.

        Args:
            function: sync or async; a bound method too.
            name: what to call the model.

        Raises:
            MisuseError: a parameter is positional-only, variable or not annotated, has a name that the model's own
                methods have, or an annotation that cannot be read. The message says where the function stands.
        """
        place = place_of(function)
        hints = _hints(function, place)
        fields: dict[str, tuple[object, object]] = {}
        contexts: dict[str, type[EffectContext]] = {}
        for parameter in inspect.signature(function).parameters.values():
            hint = _annotation(parameter, hints, place)
            if _is_context(hint):
                contexts[parameter.name] = hint
            else:
                fields[parameter.name] = _field(parameter, hint, place)
        if len(contexts) > 1:
            raise MisuseError(f"{place} takes more than one context: {', '.join(contexts)}")
        (context_name, context_type), *_ = (*contexts.items(), (None, None))
        return Signature(
            model=_model(name, fields, place),
            context_name=context_name,
            context_type=context_type,
            result=hints.get("return", inspect.Parameter.empty),
        )

    def keywords(self, arguments: BaseModel, context: EffectContext) -> dict[str, object]:
        """Return how the function is called with arguments that were judged."""
        found: dict[str, object] = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        if self.context_name is not None:
            found[self.context_name] = context
        return found


def place_of(function: Callable[..., object]) -> str:
    """Return what a function is called and where it stands, for messages."""
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    name = getattr(plain, "__qualname__", type(plain).__qualname__)
    return f"the tool {name}" if code is None else f"the tool {name} ({code.co_filename}, line {code.co_firstlineno})"


def _is_context(hint: object) -> TypeGuard[type[EffectContext]]:
    return isinstance(hint, type) and issubclass(hint, EffectContext)


def _hints(function: Callable[..., object], place: str) -> dict[str, object]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except Exception as error:
        # Annotations are the caller's code, evaluated here, and may raise anything.
        raise MisuseError(
            f"{place} has annotations that cannot be read ({type(error).__name__}); define their types at module level"
        ) from error


def _annotation(parameter: inspect.Parameter, hints: dict[str, object], place: str) -> object:
    name = parameter.name
    if parameter.kind in _VARIABLE:
        raise MisuseError(f"{place} takes *{name}: a model is shown arguments by their names; write them out")
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise MisuseError(f"{place} takes {name} by position alone: leave out the / after it")
    if name not in hints:
        raise MisuseError(f"{place} has no annotation for {name}: give it a type, so that arguments can be judged")
    return hints[name]


def _field(parameter: inspect.Parameter, hint: object, place: str) -> tuple[object, object]:
    from pydantic import BaseModel, Field
    from pydantic.fields import FieldInfo

    name = parameter.name
    if hasattr(BaseModel, name) or name.startswith("_"):
        raise MisuseError(
            f"{place} has a parameter {name}, a name that is taken; call it otherwise, and where the model must see "
            f"this name, give it with Annotated[..., Field(alias={name!r})]"
        )
    if isinstance(parameter.default, FieldInfo):
        raise MisuseError(
            f"{place} has a Field as the default of {name}, which a plain call would get as the argument; write "
            "Annotated[..., Field(...)] and the default itself"
        )
    words = next((part for part in get_args(hint)[1:] if isinstance(part, str)), None)
    if get_origin(hint) is Annotated and words is not None:
        hint = Annotated[hint, Field(description=words)]  # pyright: ignore[reportInvalidTypeForm] - made while running
    return hint, ... if parameter.default is inspect.Parameter.empty else parameter.default


def _model(name: str, fields: dict[str, tuple[object, object]], place: str) -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, create_model
    from pydantic.errors import PydanticUserError

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    make = cast("Callable[..., type[BaseModel]]", create_model)
    try:
        return make(name, __base__=Arguments, **cast("dict[str, Any]", fields))
    except (PydanticUserError, ImportError, NameError, TypeError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0]
        raise MisuseError(f"{place} has an argument of a type that pydantic cannot read: {reason}") from error


__all__ = ["Signature", "place_of"]
