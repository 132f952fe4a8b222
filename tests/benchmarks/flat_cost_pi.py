"""The peer: Pi's published package, on the same conversation."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from platformdirs import user_cache_path

PACKAGE: Final = "@mariozechner/pi-coding-agent"
VERSION: Final = "0.73.1"


def install() -> Path | None:
    """The folder of the package, installed into the user's cache; None (the reason is printed) without it."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("Pi is not measured: there is no Node.")
        return None
    cache = user_cache_path("coppice-benchmarks") / f"pi-{VERSION}"
    package = cache / "node_modules" / PACKAGE
    if not (package / "dist").is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        print(f"Installing {PACKAGE}@{VERSION} ...")
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(cache)]
        done = subprocess.run([*command, f"{PACKAGE}@{VERSION}"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"Pi is not measured: npm could not install it.\n{done.stderr.strip()}")
            return None
    return package


def measure(package: Path, session: Path, runs: int) -> dict[str, Any] | None:
    """Nanoseconds by operation, and memory in KiB; None if Pi did not get through."""
    peer = Path(__file__).with_name("pi_peer.mjs")
    done = subprocess.run(
        ["node", "--max-old-space-size=12000", str(peer), str(package), str(session), str(runs)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(f"Pi failed on {session.name}: {done.stderr.strip()[-500:]}")
        return None
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured
