"""Where a provider answers."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL that is fit to be asked: http or https, a host, and nothing secret in it."""

    base: str

    @classmethod
    def parse(cls, text: str) -> "Address":
        """The address, or ValueError with a sentence that does not repeat `text`: it may hold a password."""
        try:
            parts = urlsplit(text.strip())
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ValueError("it is no URL") from None
        if parts.scheme not in ("http", "https") or not host:
            raise ValueError("it must begin with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None:
            raise ValueError("it may not hold a user name or password; name the key's variable in apiKeyEnv")
        if parts.query or parts.fragment:
            raise ValueError("it may not have a query or a fragment")
        if not parts.geturl().isascii() or any(letter.isspace() for letter in parts.geturl()):
            raise ValueError("it may hold neither blanks nor letters beyond ASCII")
        return cls(parts.geturl().rstrip("/"))

    @property
    def origin(self) -> str:
        """Scheme, host and port: how sentences name the place."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        """The host's name without port and brackets."""
        return urlsplit(self.base).hostname or ""

    @property
    def is_plain(self) -> bool:
        """Whether what is sent can be read along the way."""
        return urlsplit(self.base).scheme == "http"

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine. `localhost` and the names below it never leave it: RFC 6761, 6.3."""
        name = self.host.rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False
