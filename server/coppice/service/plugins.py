"""Extensions of the server: packages of its own environment that have a say through pluggy.

They are found by their entry points in the group `coppice.hooks`. A workspace's folder, the current
directory and `PYTHONPATH` are not looked at: a checkout is no place to run code from.
"""

import asyncio
import contextlib
import os
import site
import sys
import threading
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distributions
from inspect import isawaitable
from typing import Any, Final

import pluggy

from coppice.service.messages.hooks import WillCompactParams, WillForkParams, WillNavigateParams

GROUP: Final = "coppice.hooks"
_PROJECT: Final = "coppice"
_PARAMS: Final = "params"

hookspec: Final = pluggy.HookspecMarker(_PROJECT)
hookimpl: Final = pluggy.HookimplMarker(_PROJECT)


class HookSpecs:
    """What an extension may implement, plainly or as `async def`.

    A hook returns its answer as the result model or as a dict of it, or None when it has nothing to say.
    """

    @hookspec
    def will_compact(self, params: WillCompactParams) -> object:
        """Before a compaction; answered with a `WillCompactResult`."""

    @hookspec
    def will_navigate(self, params: WillNavigateParams) -> object:
        """Before the leaf moves to another branch; answered with a `WillNavigateResult`."""

    @hookspec
    def will_fork(self, params: WillForkParams) -> object:
        """Before a path is copied into a new conversation; answered with a `WillForkResult`."""


class HookFailedError(Exception):
    """A hook that brought no answer. `str(error)` says why, without what the hook itself said."""


class Plugins:
    """The registered extensions. `problems` are sentences about those that could not be used."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._manager = pluggy.PluginManager(_PROJECT)
        self._manager.add_hookspecs(HookSpecs)
        self._abandoned: dict[str, threading.Thread] = {}

    def register(self, name: str, plugin: object) -> None:
        """A plugin that does not fit the specifications becomes a problem."""
        try:
            self._manager.register(plugin, name)
        except Exception as error:  # noqa: BLE001 - an extension must not keep the server from starting
            self.problems.append(_unusable(name, error))

    def load(self, places: Sequence[str]) -> None:
        """Registers the extensions that are installed in the folders `places`."""
        for distribution in distributions(path=list(places)):
            for point in distribution.entry_points.select(group=GROUP):
                try:
                    plugin = point.load()
                except BaseException as error:  # noqa: BLE001 - likewise, also where it calls sys.exit()
                    self.problems.append(_unusable(point.name, error))
                else:
                    self.register(point.name, plugin)

    def names(self) -> list[str]:
        return [name for name, plugin in self._manager.list_name_plugin() if plugin is not None]

    def implementing(self, hook: str) -> list[str]:
        """The names of the extensions that implement a hook, in the order in which they are called."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        return list(dict.fromkeys(each.plugin_name for each in reversed(caller.get_hookimpls())))

    async def call(self, name: str, hook: str, params: object) -> Any:
        """What an extension's hook returns. Raises HookFailedError.

        It runs in a thread of its own, so that whatever it does holds up nobody else. A thread cannot be
        stopped: when the caller gives up, it is left to itself, and the extension is not asked again before
        it has returned.
        """
        if (left := self._abandoned.pop(name, None)) is not None and left.is_alive():
            self._abandoned[name] = left
            raise HookFailedError("it has not come back from an earlier call")
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Any] = loop.create_future()

        def tell(value: Any, error: HookFailedError | None) -> None:
            if answered.done():
                return
            if error is None:
                answered.set_result(value)
            else:
                answered.set_exception(error)

        def run() -> None:
            value, error = None, None
            try:
                value = self._returned(name, hook, params)
            except BaseException as raised:  # noqa: BLE001 - whatever an extension does, the server goes on
                error = HookFailedError(f"it raised {type(raised).__name__}")
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(tell, value, error)

        thread = threading.Thread(target=run, name=f"coppice-hook-{name}", daemon=True)
        thread.start()
        try:
            return await answered
        except asyncio.CancelledError:
            self._abandoned[name] = thread
            raise

    def _returned(self, name: str, hook: str, params: object) -> Any:
        others = [plugin for other, plugin in self._manager.list_name_plugin() if other != name]
        caller = self._manager.subset_hook_caller(hook, [plugin for plugin in others if plugin is not None])
        said: list[Any] = caller(**{_PARAMS: params})
        value = said[0] if said else None
        return asyncio.run(_awaited(value)) if isawaitable(value) else value


@cache
def installed_plugins() -> Plugins:
    """The extensions of the server's environment, loaded once. Runs their code: call it off the loop."""
    plugins = Plugins()
    plugins.load(own_places())
    return plugins


def own_places() -> list[str]:
    """The folders on the import path into which packages of the server's environment are installed."""
    installed = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    own = {os.path.realpath(place) for place in installed}
    return [place for place in sys.path if place and os.path.realpath(place) in own]


def _unusable(name: str, error: BaseException) -> str:
    return f"The hook {name} could not be loaded ({type(error).__name__}); it is left out."


async def _awaited(value: Any) -> Any:
    return await value
