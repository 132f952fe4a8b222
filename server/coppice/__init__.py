"""Coppice: the language server that keeps an editor agent's conversations."""

from importlib.metadata import version

__version__ = version("coppice-lsp")
