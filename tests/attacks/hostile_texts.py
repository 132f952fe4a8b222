"""Texts that make rules backtrack: long repetitions of what they look for the beginning of."""

from typing import Final

UNITS: Final = (
    " ", "\n", "\t", "\r\n", " \n", "\n ", "a", "a ", "a\n", "A", "0", "1,", "1.", ".", ",", ":",
    ";", "-", "--", "- ", "-\n", "_", "*", "**", "* ", "#", "# ", "#\n", "/", "//", "a/", "/a",
    "\\", "\\n", "<", "<a", "<a ", "</", ">", "(", ")", "[", "[a](", "{", '"', "'", "`", "```",
    "```\n", "|", "=", "a=", "a=b ", "@", "a@", "a.", "a-", "a_", "://", "http://", "a:", "error ",
    "Error: ", "not ", "the ", "I ", "you ", "and ", "must ", "do not ", "a1", "f0", "$ ", "&& ",
    "\x1b[", "\x00", "你", "，", "不要", "é", "- a\n", "1. a\n", "a b c. ", "\n\n## a\n", "a\n\n",
)  # fmt: skip
"""What a hostile text repeats: what lines, words, numbers, lists, quotes, tags and paths begin with."""
