"""What tests need of the system that they run on."""

import sys

import pytest

needs_hooks = pytest.mark.skipif(
    sys.platform == "win32", reason="On Windows, Claude Code alone is given a hook"
)
needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks in order")
needs_peaks = pytest.mark.skipif(sys.platform == "win32", reason="The resource module is on POSIX alone")
needs_pipes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sh")
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no devices in folders")
needs_forks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
