"""Asks hooks before something happens, and calls them after it has happened.

The server's own extensions are asked first, one after the other, and the client last. Each is given the
instructions of those before it. A hook that cancels ends the asking. The last summary counts, and so does
the last label; instructions are added up.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from coppice.errors import CancelledByHookError
from coppice.protocol.base import WireModel
from coppice.protocol.hooks import (
    HookCompaction,
    HookModel,
    HookSummary,
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.protocol.notifications import DID_FORK, DID_NAVIGATE
from coppice.protocol.server_requests import WILL_COMPACT, WILL_FORK, WILL_NAVIGATE, ClientPort
from coppice.service.hooks.hook_thread import HookContext, HookFailedError
from coppice.service.hooks.plugins import Plugins
from coppice.settings import HookSettings
from coppice.tree.entries import Entry

Given = TypeVar("Given", HookCompaction, HookSummary)

CLIENT: Final = "client"

DID_COMPACT: Final = "didCompact"
"""Extensions alone are called then: a client is sent `coppice/compactionEnded`."""

_PLUGIN_HOOKS: Final = {
    WILL_COMPACT: "will_compact",
    WILL_NAVIGATE: "will_navigate",
    WILL_FORK: "will_fork",
    DID_COMPACT: "did_compact",
    DID_NAVIGATE: "did_navigate",
    DID_FORK: "did_fork",
}
_LONGEST_MODEL: Final = 200
"""Characters of a model's name in progress, as the protocol bounds it."""
_log = logging.getLogger(__name__)


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

    def add(self, hook: str, answer: WillCompactResult) -> None:
        """Take in the answer of the next hook."""
        self.instructions = both(self.instructions, answer.instructions)
        if answer.compaction is not None:
            self.given = GivenSummary(hook, answer.compaction)


@dataclass
class NavigationAnswer:
    """The hooks' answers to a navigation. With `replace_instructions` theirs replace all others."""

    instructions: str | None = None
    replace_instructions: bool = False
    given: GivenSummary[HookSummary] | None = None
    label: str | None = None
    problems: list[str] = field(default_factory=list)

    def add(self, hook: str, answer: WillNavigateResult) -> None:
        """Take in the answer of the next hook."""
        if answer.replace_instructions and (answer.instructions or "").strip():
            self.instructions, self.replace_instructions = answer.instructions, True
        else:
            self.instructions = both(self.instructions, answer.instructions)
        if answer.summary is not None:
            self.given = GivenSummary(hook, answer.summary)
        self.label = answer.label or self.label


def both(first: str | None, second: str | None) -> str | None:
    """Two instructions as one."""
    parts = [part.strip() for part in (first, second) if part and part.strip()]
    return "\n\n".join(parts) or None


class _NoAnswer(WireModel):
    """What is expected of a hook that is only notified."""


Answer = TypeVar("Answer", WillCompactResult, WillNavigateResult, WillForkResult, _NoAnswer)


@dataclass(frozen=True)
class Asking:
    """How hooks are asked: the time each has, the entries it may read, and where progress is reported.

    `entries` blocks and is called in the thread of a hook.
    """

    settings: HookSettings
    entries: Callable[[], Iterator[Entry]]
    report: Callable[[str], None] = lambda _stage: None


@dataclass(frozen=True)
class _Hook:
    """`call` has the hook answer; its second argument is called with the model that the hook asks."""

    name: str
    method: str
    call: Callable[[WireModel, Callable[[str], None]], Awaitable[Any]]

    def __str__(self) -> str:
        return _named(self.name)


class _Limit:
    """The time that one hook has, in seconds, which is longer once it asks a model."""

    def __init__(self, hook: _Hook, asking: Asking) -> None:
        self.seconds = asking.settings.timeout_seconds
        self.timeout = asyncio.timeout(self.seconds)
        self._hook = str(hook)
        self._asking = asking

    def extend(self, model: str) -> None:
        """Called on the event loop when the hook asks `model`."""
        loop = asyncio.get_running_loop()
        self.seconds = self._asking.settings.model_timeout_seconds
        with contextlib.suppress(RuntimeError):  # the hook has answered meanwhile
            self.timeout.reschedule(loop.time() + self.seconds)
        named = f"{self._hook[0].lower()}{self._hook[1:]}"
        self._asking.report(f"Waiting for {named}, which asks {model[:_LONGEST_MODEL]}")


class Hooks:
    """Asks the extensions and the client, in whose log it names every hook that is skipped."""

    def __init__(self, plugins: Plugins, client: ClientPort) -> None:
        self.plugins = plugins
        self._client = client
        self._notifying: set[asyncio.Task[None]] = set()

    def are_there(self, method: str) -> bool:
        """Whether anybody is asked before what `method` announces."""
        return method in self._client.answers or bool(self.plugins.implementing(_PLUGIN_HOOKS[method]))

    async def will_compact(self, params: WillCompactParams, asking: Asking) -> CompactionAnswer:
        """Raises CancelledByHookError."""
        answered = CompactionAnswer(params.instructions)
        for hook in self._of(WILL_COMPACT, asking):
            asked = params.model_copy(update={"instructions": answered.instructions})
            answer = await self._answer(hook, WillCompactResult, asked, asking, answered.problems)
            if answer.cancel:
                raise _cancelled(hook, "the compaction")
            answered.add(hook.name, answer)
        return answered

    async def will_navigate(self, params: WillNavigateParams, asking: Asking) -> NavigationAnswer:
        """Raises CancelledByHookError."""
        answered = NavigationAnswer()
        for hook in self._of(WILL_NAVIGATE, asking):
            answer = await self._answer(hook, WillNavigateResult, params, asking, answered.problems)
            if answer.cancel:
                raise _cancelled(hook, "the navigation")
            answered.add(hook.name, answer)
        return answered

    async def will_fork(self, params: WillForkParams, asking: Asking) -> None:
        """Raises CancelledByHookError."""
        for hook in self._of(WILL_FORK, asking):
            answer = await self._answer(hook, WillForkResult, params, asking, [])
            if answer.cancel:
                raise _cancelled(hook, "the fork")

    def pass_over(self, hook: str, why: str) -> str:
        """Reports that a hook's summary is not used; returns the sentence of the report."""
        return self._log(f"{_named(hook)} gave a summary that was not used. {why}")

    def notify(self, method: str, params: WireModel, asking: Asking) -> None:
        """Calls the extensions' hooks for something that has happened; nobody waits for them."""
        task = asyncio.create_task(self._notify(method, params, asking))
        self._notifying.add(task)
        task.add_done_callback(self._notifying.discard)

    async def close(self) -> None:
        """Stops the hooks that nobody waits for."""
        for task in self._notifying:
            task.cancel()
        await asyncio.gather(*self._notifying, return_exceptions=True)

    async def _notify(self, method: str, params: WireModel, asking: Asking) -> None:
        for hook in self._of(method, asking):
            await self._answer(hook, _NoAnswer, params, asking, [])

    def _of(self, method: str, asking: Asking) -> list[_Hook]:
        """The client's hook is among them before something happens only: it answers no notifications."""
        names = self.plugins.implementing(_PLUGIN_HOOKS[method])
        hooks = [self._plugin_hook(name, method, asking) for name in names]
        if method in self._client.answers:
            hooks.append(self._client_hook(method))
        return hooks

    def _client_hook(self, method: str) -> _Hook:
        async def call(params: WireModel, on_model: Callable[[str], None]) -> Any:
            def on_part(part: Any) -> None:
                with contextlib.suppress(ValidationError):
                    on_model(HookModel.model_validate(part).model)

            return await self._client.ask(method, params, on_part)

        return _Hook(CLIENT, method, call)

    def _plugin_hook(self, name: str, method: str, asking: Asking) -> _Hook:
        async def call(params: WireModel, on_model: Callable[[str], None]) -> Any:
            loop = asyncio.get_running_loop()

            def on_model_in_thread(model: str) -> None:
                loop.call_soon_threadsafe(on_model, model)

            context = HookContext(asking.entries, on_model_in_thread)
            own_copy = params.model_copy(deep=True)
            return await self.plugins.call(name, _PLUGIN_HOOKS[method], own_copy, context)

        return _Hook(name, method, call)

    async def _answer(
        self, hook: _Hook, result: type[Answer], params: WireModel, asking: Asking, problems: list[str]
    ) -> Answer:
        """The hook's answer; an empty one, and a sentence in `problems`, where it has none to be used."""
        limit = _Limit(hook, asking)
        try:
            async with limit.timeout:
                answer = await hook.call(params, limit.extend)
            return result() if answer is None else result.model_validate(_plain(answer))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            place = ".".join(map(str, first["loc"])) or "the answer"
            problem = f"answered {hook.method} with what does not fit ({place}: {first['msg'].lower()})"
        except HookFailedError as error:
            problem = f"did not answer {hook.method}: {error}"
        except Exception:  # noqa: BLE001 - however a hook fails, the work goes on without it
            late = f"did not answer {hook.method} within {limit.seconds:g} s"
            problem = late if limit.timeout.expired() else f"failed at {hook.method}"
        problems.append(self._log(f"{hook} {problem}; it was skipped."))
        return result()

    def _log(self, problem: str) -> str:
        _log.warning("%s", problem)
        self._client.log(problem)
        return problem


def _plain(answered: Any) -> Any:
    """An answer as JSON has it, whatever an extension put into it."""
    try:
        if isinstance(answered, BaseModel):
            answered = answered.model_dump(by_alias=True)
        return json.loads(json.dumps(answered, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError):
        raise HookFailedError("its answer is no JSON value") from None


def _cancelled(hook: _Hook, what: str) -> CancelledByHookError:
    return CancelledByHookError(f"{hook} cancelled {what}; nothing was changed.", hook=hook.name)


def _named(hook: str) -> str:
    return "The client's hook" if hook == CLIENT else f"The hook {hook}"
