"""The fixtures of this folder."""

from conftest_service import client, make_client

__all__ = ["client", "make_client"]
