"""Divides a shell command line into simple commands, in one pass.

The grammar is the part of POSIX's shell command language (XCU chapter 2) that says where a command begins and
ends: quoting, operators, redirections and here-documents. Nothing is expanded.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

_PLAIN: Final = re.compile(r"[^\s'\"\\;&|<>()`$#]+")
_IN_QUOTES: Final = re.compile(r'(?:[^"\\`$]++|\\.)++', re.DOTALL)
_IN_SUBSTITUTION: Final = re.compile(
    r"[()']|\\.|<<-?[ \t]{0,4}(?P<quote>['\"]?)(?P<marker>[A-Za-z_]\w{0,60})(?P=quote)", re.DOTALL
)
_CAT: Final = re.compile(r"\$\(\s{0,8}cat\s{1,8}<<")
_ESCAPED: Final = re.compile(r'\\(["\\$`\n])')
_OPERATOR: Final = re.compile(r"&&|\|\|?&?|;;?|&(?!>)|\n|[()]")
_REDIRECTION: Final = re.compile(r"&>>?|<<<|<<-?|>>|>[&|]?|<[&>]?")


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command without its wrappers.

    `operator` is the operator before it: empty, `;`, `&&`, `||`, `|` or `&`. `directory` is where the line
    changed to before it, empty for where the line begins. `writes` are the files that its output goes to,
    `documents` its here-documents. `conditional` commands are part of a loop, a condition or the background:
    whether they ran the line's status does not show.
    """

    words: tuple[str, ...]
    operator: str = ""
    directory: str = ""
    writes: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    conditional: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.words[1:]

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are no options."""
        return tuple(word for word in self.arguments if not word.startswith("-"))

    def runs(self, program: str, *subcommands: str) -> bool:
        """Whether it is `program` with one of `subcommands` as its first operand."""
        return self.program == program and (
            not subcommands or self.operands[:1] in [(s,) for s in subcommands]
        )

    def __str__(self) -> str:
        return " ".join(self.words)


def scanned(line: str) -> list[Command]:
    """The simple commands of `line` in order, wrappers included. Linear in its length."""
    return _Scanner(line).commands()


class _Scanner:
    """Reads a command line from left to right; every step consumes what it reads."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._word: list[str] | None = None
        self._words: list[str] = []
        self._operator = ""
        self._writes: list[str] = []
        self._redirection = ""
        self._commands: list[Command] = []
        self._markers: list[tuple[int, str]] = []

    def commands(self) -> list[Command]:
        """All commands of the text."""
        while self._at < len(self._text):
            operator = self._step()
            if operator:
                self._end_command()
                self._operator = {"\n": ";", ";;": ";", "(": ";", ")": ";", "|&": "|"}.get(operator, operator)
                if operator == "\n":
                    self._read_documents()
        self._end_command()
        return self._commands

    def _step(self) -> str:
        """Consumes the next part of a word, a redirection, or an operator, which it returns."""
        text, at = self._text, self._at
        plain = _PLAIN.match(text, at)
        if plain:
            self._add(plain[0], plain.end())
            return ""
        redirection = _REDIRECTION.match(text, at)
        if redirection:
            if self._word is not None and "".join(self._word).isdigit():
                self._word = None
            self._end_word()
            self._redirection = redirection[0]
            self._at = redirection.end()
            return ""
        operator = _OPERATOR.match(text, at)
        if operator:
            self._end_word()
            self._at = operator.end()
            return operator[0]
        self._quoted(text[at])
        return ""

    def _quoted(self, char: str) -> None:
        text, at = self._text, self._at
        if char.isspace():
            self._end_word()
            self._at = at + 1
        elif char == "#" and self._word is None:
            self._at = _index(text, "\n", at)
        elif char == "'":
            end = _index(text, "'", at + 1)
            self._add(text[at + 1 : end], end + 1)
        elif char == '"':
            self._double_quoted()
        elif char == "\\":
            self._add(text[at + 1 : at + 2].strip("\n"), at + 2)
        elif char == "`" or text.startswith("$(", at):
            self._substitution()
        else:
            self._add(char, at + 1)

    def _double_quoted(self) -> None:
        self._at += 1
        self._add("", self._at)
        while self._at < len(self._text):
            plain = _IN_QUOTES.match(self._text, self._at)
            if plain:
                self._add(_ESCAPED.sub(lambda match: match[1].strip("\n"), plain[0]), plain.end())
            elif self._text[self._at] == '"':
                self._at += 1
                return
            elif self._text.startswith("$(", self._at) or self._text[self._at] == "`":
                self._substitution()
            else:
                self._add(self._text[self._at], self._at + 1)

    def _substitution(self) -> None:
        """Takes over a command substitution as it is written; of `$(cat <<END)` its document."""
        text, at = self._text, self._at
        if text[at] == "`":
            end = _index(text, "`", at + 1) + 1
            self._add(text[at:end], end)
            return
        place, depth, documents = at + 2, 1, list[str]()
        while place < len(text) and depth:
            stop = _IN_SUBSTITUTION.search(text, place)
            if stop is None:
                place = len(text)
                break
            place = stop.end()
            match stop[0][0]:
                case "(":
                    depth += 1
                case ")":
                    depth -= 1
                case "'":
                    place = _index(text, "'", place) + 1
                case "<":
                    body, place = _document(text, _index(text, "\n", place) + 1, stop["marker"])
                    documents.append(body)
                case _:
                    pass
        whole = text[at:place]
        self._add(documents[0] if documents and _CAT.match(whole) else whole, place)

    def _add(self, part: str, end: int) -> None:
        if self._word is None:
            self._word = []
        self._word.append(part)
        self._at = end

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        redirection, self._redirection = self._redirection, ""
        if redirection in ("<<", "<<-"):
            self._markers.append((len(self._commands), word))
        elif redirection in (">", ">>", ">|", "&>", "&>>"):
            self._writes.append(word)
        elif not redirection:
            self._words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        if self._words:
            self._commands.append(Command(tuple(self._words), self._operator, writes=tuple(self._writes)))
        self._words, self._writes, self._redirection = [], [], ""

    def _read_documents(self) -> None:
        documents: dict[int, list[str]] = {}
        for place, marker in self._markers:
            body, self._at = _document(self._text, self._at, marker)
            documents.setdefault(place, []).append(body)
        for place, bodies in documents.items():
            if place < len(self._commands):
                self._commands[place] = replace(self._commands[place], documents=tuple(bodies))
        self._markers = []


def _index(text: str, part: str, start: int) -> int:
    """Where `part` is next, or the end of the text."""
    place = text.find(part, start)
    return place if place >= 0 else len(text)


def _document(text: str, start: int, marker: str) -> tuple[str, int]:
    """A here-document from `start` on, and where the line after its end begins."""
    end = re.compile(rf"^\t*{re.escape(marker)}$", re.MULTILINE).search(text, start)
    if end is None:
        return text[start:], len(text)
    return text[start : end.start()], end.end()
