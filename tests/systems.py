"""What tests need of the system that they run on."""

import sys

import pytest

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
