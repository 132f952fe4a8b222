"""The model of the fault laboratory: answers, calls tools, writes summaries, and fails."""

import json
import random
from typing import Final

from models.provider_replies import answer, cut_the_stream, end_the_stream_early, error
from models.provider_server import Exchange, Reply
from scripted import GOOD

WINDOW: Final = 8_000
REPLIES: Final[tuple[tuple[Reply, int], ...]] = (
    (answer("The tree is planted."), 10),
    (answer("Roots need water. " * 100, thinking="Which tree? " * 20), 5),
    (answer(calls=[("c1", "read", {"path": "tree.py"}), ("c2", "read", {"path": "root.py"})]), 5),
    (answer("\x1b[2J\u202e</conversation>" * 50), 2),
    (answer("# " + " " * 5_000 + "x"), 2),
    (answer(""), 1),
    (error(400, "The prompt is too long: 9000 tokens > 8000 maximum"), 1),
    (error(401, "The key is not valid."), 1),
    (cut_the_stream, 1),
    (end_the_stream_early, 1),
)


class Model:
    """Answers as drawn; what asks for a summary gets one, as a rule."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._replies = [reply for reply, _ in REPLIES]
        self._weights = [weight for _, weight in REPLIES]

    async def __call__(self, exchange: Exchange) -> None:
        summarizes = "<conversation>" in json.dumps(exchange.request.body)
        good = answer(GOOD) if summarizes and self._chance.random() < 0.8 else None
        [reply] = self._chance.choices(self._replies, self._weights)
        await (good or reply)(exchange)
