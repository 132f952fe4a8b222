"""Coppice: the language server that keeps an editor agent's conversations."""

__version__ = "0.1.0"
