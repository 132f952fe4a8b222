"""What the models of stored values and of wire messages share."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema


class CamelModel(BaseModel):
    """A JSON object with names in camelCase and strict types.

    A list in it is refused at its first item that does not fit: with an error for each item, a list of
    megabytes takes gigabytes and seconds in which nothing else runs.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, strict=True, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _failing_fast(handler(source))


def _failing_fast(schema: CoreSchema) -> CoreSchema:
    """Changes `schema`, and returns it."""
    parts: list[Any] = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, dict) and part.get("type") == "list":
            part["fail_fast"] = True
        if isinstance(part, dict | list | tuple):
            parts += part.values() if isinstance(part, dict) else part
    return schema
