"""A server whose event loop stands still ends, and one that was suspended does not."""

import subprocess
import sys
import time

import psutil

from coppice.lsp.watchdog import STALLED

PROGRAM = """
import asyncio, threading
from coppice.lsp.watchdog import Watchdog
async def main():
    Watchdog(asyncio.get_running_loop(), looks=10, seconds=0.1)
    {work}
asyncio.run(main())
"""


def played(work: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", PROGRAM.format(work=work)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)


def test_a_loop_that_waits_for_ever_is_ended_with_its_stacks() -> None:
    done = played("threading.Event().wait()")
    assert done.returncode == STALLED
    assert "has stopped working" in done.stderr
    assert "in wait" in done.stderr


def test_a_thread_that_never_says_that_it_runs_is_the_case_that_happens() -> None:
    done = played("threading.Thread._bootstrap = lambda self: None; threading.Thread().start()")
    assert done.returncode == STALLED
    assert "in start" in done.stderr


def test_a_request_that_waits_for_a_thread_that_never_runs_is_not_left_to_wait() -> None:
    """The loop works, so that nobody else would end it."""
    never_runs = "setattr(threading.Thread, '_bootstrap', lambda self: None)"
    done = played(f"await asyncio.to_thread(lambda: ({never_runs}, threading.Thread().start()))")
    assert done.returncode == STALLED
    assert "in start" in done.stderr


def test_a_loop_that_works_goes_on() -> None:
    done = played("[await asyncio.sleep(0.05) for _ in range(40)]")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_suspended_process_is_not_ended() -> None:
    work = "print('ready', flush=True); await asyncio.to_thread(input); print('done', flush=True)"
    program = [sys.executable, "-c", PROGRAM.format(work=work)]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        psutil.Process(process.pid).suspend()
        time.sleep(2)
        psutil.Process(process.pid).resume()
        time.sleep(0.5)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
    assert process.returncode == 0


def test_a_server_has_one() -> None:
    program = """
import functools, threading
from coppice.lsp import process
process.Watchdog = functools.partial(process.Watchdog, looks=5, seconds=0.02)
async def main():
    threading.Event().wait()
process.run_and_exit(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert ended.returncode == STALLED
