"""Asking, before something happens, whoever may have a say in it.

The server's own extensions are asked first, one after the other, and the client last. Each hears what the
ones before it added, and the last word counts; whoever cancels ends the asking.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from coppice.errors import CancelledByHookError
from coppice.service.messages.base import WireModel
from coppice.service.messages.hooks import (
    HookCompaction,
    HookSummary,
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.service.plugins import HookFailedError, Plugins
from coppice.service.server_requests import WILL_COMPACT, WILL_FORK, WILL_NAVIGATE, Ask

CLIENT: Final = "client"

_PLUGIN_HOOKS: Final = {
    WILL_COMPACT: "will_compact",
    WILL_NAVIGATE: "will_navigate",
    WILL_FORK: "will_fork",
}
_log = logging.getLogger(__name__)

Answer = TypeVar("Answer", WillCompactResult, WillNavigateResult, WillForkResult)
Given = TypeVar("Given", HookCompaction, HookSummary)


@dataclass(frozen=True)
class GivenSummary(Generic[Given]):
    """A summary that the hook of that name wants stored."""

    hook: str
    summary: Given


@dataclass
class CompactionAnswer:
    """What the hooks made of a compaction; `problems` are sentences about hooks that were skipped."""

    instructions: str | None
    given: GivenSummary[HookCompaction] | None = None
    problems: list[str] = field(default_factory=list)


@dataclass
class NavigationAnswer:
    """What the hooks made of a navigation. With `replace_instructions` theirs stand for everybody's."""

    instructions: str | None = None
    replace_instructions: bool = False
    given: GivenSummary[HookSummary] | None = None
    label: str | None = None
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Hook:
    name: str
    call: Callable[[WireModel], Awaitable[Any]]


@dataclass(frozen=True)
class _Question(Generic[Answer]):
    """What is asked of every hook in turn. Each has `patience` seconds; `problems` tells who was skipped."""

    method: str
    result: type[Answer]
    patience: float
    problems: list[str] = field(default_factory=list)


class Hooks:
    """`ask` sends a request to the client, which answers those in `client_answers`.

    `report` is told of every hook that is skipped, on the event loop.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.ask: Ask | None = None
        self.client_answers: frozenset[str] = frozenset()
        self.report: Callable[[str], None] = lambda _problem: None

    def are_there(self, method: str) -> bool:
        """Whether anybody is asked before what `method` announces."""
        return bool(self._of(method))

    async def will_compact(self, params: WillCompactParams, patience: float) -> CompactionAnswer:
        """Raises CancelledByHookError. Each hook has `patience` seconds."""
        question = _Question(WILL_COMPACT, WillCompactResult, patience)
        said = CompactionAnswer(params.instructions, problems=question.problems)
        for hook in self._of(WILL_COMPACT):
            asked = params.model_copy(update={"instructions": said.instructions})
            answer = await self._answer(hook, question, asked)
            if answer is None:
                continue
            if answer.cancel:
                raise _cancelled(hook, "the compaction")
            said.instructions = both(said.instructions, answer.instructions)
            if answer.compaction is not None:
                said.given = GivenSummary(hook.name, answer.compaction)
        return said

    async def will_navigate(self, params: WillNavigateParams, patience: float) -> NavigationAnswer:
        """Raises CancelledByHookError. Each hook has `patience` seconds."""
        question = _Question(WILL_NAVIGATE, WillNavigateResult, patience)
        said = NavigationAnswer(problems=question.problems)
        for hook in self._of(WILL_NAVIGATE):
            answer = await self._answer(hook, question, params)
            if answer is None:
                continue
            if answer.cancel:
                raise _cancelled(hook, "the navigation")
            if answer.replace_instructions and (answer.instructions or "").strip():
                said.instructions, said.replace_instructions = answer.instructions, True
            else:
                said.instructions = both(said.instructions, answer.instructions)
            if answer.summary is not None:
                said.given = GivenSummary(hook.name, answer.summary)
            said.label = answer.label or said.label
        return said

    async def will_fork(self, params: WillForkParams, patience: float) -> None:
        """Raises CancelledByHookError. Each hook has `patience` seconds."""
        question = _Question(WILL_FORK, WillForkResult, patience)
        for hook in self._of(WILL_FORK):
            answer = await self._answer(hook, question, params)
            if answer is not None and answer.cancel:
                raise _cancelled(hook, "the fork")

    def pass_over(self, hook: str, why: str) -> str:
        """Tells that a hook's summary is not used; the sentence that says so."""
        return self._told(f"{_named(hook)} gave a summary that was not used. {why}")

    def _of(self, method: str) -> list[_Hook]:
        hooks = [self._plugin(name, method) for name in self.plugins.implementing(_PLUGIN_HOOKS[method])]
        ask = self.ask
        if ask is not None and method in self.client_answers:
            hooks.append(_Hook(CLIENT, lambda params: ask(method, params)))
        return hooks

    def _plugin(self, name: str, method: str) -> _Hook:
        async def call(params: WireModel) -> Any:
            own_copy = params.model_copy(deep=True)
            return await self.plugins.call(name, _PLUGIN_HOOKS[method], own_copy)

        return _Hook(name, call)

    async def _answer(self, hook: _Hook, question: _Question[Answer], params: WireModel) -> Answer | None:
        """The hook's answer, None when it has none that can be used."""
        method, result = question.method, question.result
        limit = asyncio.timeout(question.patience)
        try:
            async with limit:
                said = await hook.call(params)
            return result() if said is None else result.model_validate(_plain(said))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            place = ".".join(map(str, first["loc"])) or "the answer"
            problem = f"answered {method} with what does not fit ({place}: {first['msg'].lower()})"
        except HookFailedError as error:
            problem = f"did not answer {method}: {error}"
        except Exception:  # noqa: BLE001 - however a hook fails, the work goes on without it
            silent = f"did not answer {method} within {question.patience:g} s"
            problem = silent if limit.expired() else f"failed at {method}"
        question.problems.append(self._told(f"{_named(hook.name)} {problem}; it was skipped."))
        return None

    def _told(self, problem: str) -> str:
        _log.warning("%s", problem)
        self.report(problem)
        return problem


def _plain(said: Any) -> Any:
    """An answer as JSON has it, whatever an extension put into it."""
    try:
        if isinstance(said, BaseModel):
            said = said.model_dump(by_alias=True)
        return json.loads(json.dumps(said, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError):
        raise HookFailedError("its answer is no JSON value") from None


def _cancelled(hook: _Hook, what: str) -> CancelledByHookError:
    return CancelledByHookError(f"{_named(hook.name)} cancelled {what}; nothing was changed.", hook=hook.name)


def _named(hook: str) -> str:
    return "The client's hook" if hook == CLIENT else f"The hook {hook}"


def both(first: str | None, second: str | None) -> str | None:
    """Two instructions as one."""
    parts = [part.strip() for part in (first, second) if part and part.strip()]
    return "\n\n".join(parts) or None
