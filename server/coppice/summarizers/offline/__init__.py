"""The summarizer that needs no model: rules instead of prose, the same text every time."""

from coppice.summarizers.offline.summarizer import OfflineSummarizer

__all__ = ["OfflineSummarizer"]
