"""annot: from a corpus of paper abstracts to a published retrieval test collection, judged in Label Studio."""

__version__ = "0.1.0"
