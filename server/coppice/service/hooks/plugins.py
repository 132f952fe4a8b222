"""Extensions of the server: packages of its own environment that register hooks through pluggy.

They are found by their entry points in the group `coppice.hooks`. A workspace's folder, the current
directory and `PYTHONPATH` are not looked at: a checkout is no place to run code from.
"""

import asyncio
import os
import site
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distributions
from typing import Any, Final

import pluggy

from coppice.protocol.hooks import (
    DidCompactParams,
    DidForkParams,
    DidNavigateParams,
    WillCompactParams,
    WillForkParams,
    WillNavigateParams,
)
from coppice.service.hooks.hook_thread import HookContext, HookFailedError, HookThread

GROUP: Final = "coppice.hooks"
_PROJECT: Final = "coppice"

hookspec: Final = pluggy.HookspecMarker(_PROJECT)
hookimpl: Final = pluggy.HookimplMarker(_PROJECT)


class HookSpecs:
    """What an extension may implement, as `def` or as `async def`. It may leave out `context`.

    A hook that is asked returns its answer as the result model or as a dict of it, or None for no answer.
    """

    @hookspec
    def will_compact(self, params: WillCompactParams, context: HookContext) -> object:
        """Before a compaction; answered with a `WillCompactResult`."""

    @hookspec
    def will_navigate(self, params: WillNavigateParams, context: HookContext) -> object:
        """Before the leaf moves to another branch; answered with a `WillNavigateResult`."""

    @hookspec
    def will_fork(self, params: WillForkParams, context: HookContext) -> object:
        """Before a path is copied into a new conversation; answered with a `WillForkResult`."""

    @hookspec
    def did_compact(self, params: DidCompactParams, context: HookContext) -> None:
        """After a compaction was stored."""

    @hookspec
    def did_navigate(self, params: DidNavigateParams, context: HookContext) -> None:
        """After the leaf moved to another branch."""

    @hookspec
    def did_fork(self, params: DidForkParams, context: HookContext) -> None:
        """After a path was copied into a new conversation."""


class Plugins:
    """The registered extensions. `problems` are sentences about those that could not be used."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._manager = pluggy.PluginManager(_PROJECT)
        self._manager.add_hookspecs(HookSpecs)
        self._abandoned: dict[str, HookThread] = {}

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
        """The names of the extensions that were loaded."""
        return [name for name, plugin in self._manager.list_name_plugin() if plugin is not None]

    def implementing(self, hook: str) -> list[str]:
        """The names of the extensions that implement a hook, in the order in which they are called."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        return list(dict.fromkeys(each.plugin_name for each in reversed(caller.get_hookimpls())))

    async def call(self, name: str, hook: str, params: object, context: HookContext) -> Any:
        """What an extension's hook returns. Raises HookFailedError.

        A hook whose caller gives up is stopped. While one cannot be stopped, its extension is not asked
        again.
        """
        if (left := self._abandoned.pop(name, None)) is not None and left.is_alive():
            self._abandoned[name] = left
            raise HookFailedError("it has not come back from an earlier call")
        thread = HookThread(name, lambda: self._returned(name, hook, params, context), context)
        try:
            return await asyncio.wrap_future(thread.answer)
        except asyncio.CancelledError:
            thread.stop()
            self._abandoned[name] = thread
            raise

    def _returned(self, name: str, hook: str, params: object, context: HookContext) -> Any:
        others = [plugin for other, plugin in self._manager.list_name_plugin() if other != name]
        caller = self._manager.subset_hook_caller(hook, [plugin for plugin in others if plugin is not None])
        answers: list[Any] = caller(params=params, context=context)
        return answers[0] if answers else None


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
