"""How long a provider may take, and when it is asked again. All in seconds."""

from dataclasses import dataclass
from random import SystemRandom
from typing import Final

_RANDOM: Final = SystemRandom()


@dataclass(frozen=True, slots=True)
class Deadlines:
    """When waiting ends.

    - `connect`: a host that is there answers a handshake within a second or two, half a world away too.
    - `silence`: between two pieces of the answer, and before the first. Reasoning models think for minutes
      without a byte, and a model on a laptop needs minutes to read a long prompt.
    - `total`: the whole of `complete`, retries and their pauses included, so that a server that drips a byte
      a minute ends too. The longest honest answers, 16,000 tokens at 20 a second, take under a quarter hour.
    - `trailer`: for the usage that may follow a finished answer; the answer is complete without it.
    - `limits`: asking a server what fits. A wrong limit costs less than a long wait.
    """

    connect: float = 10
    silence: float = 180
    total: float = 900
    trailer: float = 5
    limits: float = 10


@dataclass(frozen=True, slots=True)
class Retries:
    """When a failed request is made again.

    Only where the same request may well succeed a moment later, and only as long as nothing of an answer has
    been passed on. `tries` counts the first one. The pause doubles from `pause`, with jitter so that several
    clients do not come back at once. `longest_pause` also bounds what a provider may ask for with
    `retry-after`: past it the next fallback is the better answer.
    """

    tries: int = 3
    pause: float = 0.5
    longest_pause: float = 30

    def before(self, attempt: int, retry_after: float | None) -> float | None:
        """The pause before try number `attempt`, the first being 1; None when there is to be none."""
        if attempt > self.tries:
            return None
        if retry_after is not None:
            return retry_after if retry_after <= self.longest_pause else None
        doubled: float = min(self.pause * 2 ** (attempt - 2), self.longest_pause)
        return doubled * _RANDOM.uniform(0.5, 1)
