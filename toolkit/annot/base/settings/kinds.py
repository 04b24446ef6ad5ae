"""What a study is about (facets of papers, topics or questions), and the settings that each begins with."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["facets", "topics", "questions"]

_TEXTS: dict[str, Any] = {
    "facets": {"whole": []},
    # Short documents are let in, and long ones: there is nothing to label in them.
    "corpus": {"min_sentences": 1, "max_sentences": 1000, "max_sentence_tokens": 1000, "min_sentence_tokens": 1},
    # Four methods that can rank a text; 25 each give pools of about 100, as the defaults of facets do.
    "pool": {"per_method": 25, "methods": ["title_tfidf", "abs_tfidf", "abs_cbow200", "abs_tfidfcbow200"]},
}
_ERROR_KINDS = ["other words", "ambiguous word", "part of the need", "mentioned in passing", "background knowledge"]

OF_KIND: dict[str, dict[str, Any]] = {
    "facets": {},
    # TREC's ad-hoc tracks count every grade above 0 as relevant.
    "topics": _TEXTS
    | {
        "scale": {"names": ["Not relevant", "Relevant", "Highly relevant"]},
        "evaluation": {"relevant_from": 1, "error_kinds": _ERROR_KINDS},
    },
    # The four grades of TREC's Deep Learning track (Craswell et al., 2020), in our own words; from 2 on relevant.
    "questions": _TEXTS
    | {
        "scale": {"names": ["Unrelated", "Related", "Partial answer", "Full answer"]},
        "evaluation": {"relevant_from": 2, "error_kinds": _ERROR_KINDS},
    },
}
"""By kind, the defaults that are not those of facets."""


def begun(given: dict[str, Any]) -> dict[str, Any]:
    """What is given in annot.toml, with the defaults of its kind where it gives nothing.

    >>> begun({"kind": "topics", "pool": {"per_method": 9}})["pool"]["methods"][0]
    'title_tfidf'
    """
    kind = given.get("kind")
    usual = OF_KIND.get(kind, {}) if isinstance(kind, str) else {}
    both = {section for section in usual.keys() & given.keys() - {"facets"} if isinstance(given[section], dict)}
    return usual | given | {section: usual[section] | given[section] for section in both}
