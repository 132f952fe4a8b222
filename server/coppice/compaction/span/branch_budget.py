"""Which messages of an abandoned branch its summary is made from."""

from collections.abc import Callable, Iterable
from typing import Final

from coppice.compaction.span.chunking import shortened_message
from coppice.tree.messages import Message

MINIMUM_TOKENS: Final = 100  # tokens; a shorter piece of a message says too little (guess)
_CHARS_PER_TOKEN: Final = 3  # four fifths of 1,071 recorded texts have more, so that most shortened ones fit


def within_budget(
    newest_first: Iterable[Message], budget: int, size_of: Callable[[Message], int]
) -> list[Message]:
    """The newest messages that fit `budget` tokens, oldest first.

    A message that does not fit takes half of what is left, shortened, and the walk goes on after it.
    """
    chosen: list[Message] = []
    left = budget
    for message in newest_first:
        if left < MINIMUM_TOKENS:
            break
        size = size_of(message)
        if size > left:
            message = shortened(message, left // 2)  # noqa: PLW2901 - the same message, smaller
            size = min(size_of(message), left)
        chosen.append(message)
        left -= size
    return chosen[::-1]


def shortened(message: Message, tokens: int) -> Message:
    """`message` with its texts cut to about `tokens`: head and tail stay, images go."""
    return shortened_message(message, tokens * _CHARS_PER_TOKEN)
