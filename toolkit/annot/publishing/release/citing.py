"""Files by which others find, cite and archive a released collection: LICENSE, CITATION.cff and .zenodo.json."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import yaml

from annot import __version__
from annot.formats.beir import dataset_id
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import fill
from annot.publishing.terms import licence_named

LICENCE_FILE = "LICENSE"
CITATION_FILE = "CITATION.cff"
ZENODO_FILE = ".zenodo.json"


def files_for_citing(facts: CollectionFacts) -> dict[str, str]:
    """The three files, by name; no licence file while no licence is chosen."""
    licence = _licence(facts)
    citation, record = (_filled(template, facts) for template in ("citation.json.j2", "zenodo.json.j2"))
    return {
        **({LICENCE_FILE: licence} if licence else {}),
        CITATION_FILE: yaml.safe_dump(citation, sort_keys=False, allow_unicode=True, width=100),
        ZENODO_FILE: json.dumps(record, ensure_ascii=False, indent=2) + "\n",
    }


def _filled(template: str, facts: CollectionFacts) -> dict[str, Any]:
    """The fields of a template that have a value."""
    keywords = ("information retrieval", "test collection", *facts.collection.keywords)
    values = {"keywords": keywords, "program": "annot", "version": __version__}
    fields = json.loads(fill(template, facts, overrides=None, **values))
    return {name: value for name, value in fields.items() if value}


def _licence(facts: CollectionFacts) -> str:
    """A sentence for each part of the release, with its licence and the address of the licence's text."""
    terms = facts.terms
    parts = [("The judgements, and all that is not named below,", terms.licence)]
    parts += [("The topics", terms.topic_licence)] if terms.topic_licence else []
    parts += [("The titles and texts of the documents", terms.text_licence)] if terms.with_text else []
    lines = [f"{facts.collection.title}, version {facts.collection.version}", ""]
    for part, name in parts:
        if name:
            licence = licence_named(name)
            address = f" ({licence.url})" if licence.url and licence.url != licence.name else ""
            lines.append(f"{part} are licensed under {licence.name}{address}.")
    return "\n".join(lines) + "\n" if lines[2:] else ""


def upload_commands(folder: Path, name: str) -> tuple[str, str]:
    """Commands that put the release of the collection `name` on Hugging Face and on Zenodo, for a shell."""
    short, place = dataset_id(name), shlex.quote(str(folder))
    archive = shlex.quote(f"{short}.tar.gz")
    token = '-H "Authorization: Bearer $ZENODO_TOKEN"'
    record = f'-d "{{\\"metadata\\": $(cat {place}/{ZENODO_FILE})}}" https://zenodo.org/api/deposit/depositions'
    bucket = 'python3 -c \'import json, sys; print(json.load(sys.stdin)["links"]["bucket"])\''
    return (
        f"hf upload {shlex.quote(short)} {place} . --repo-type dataset",
        f"tar -czf {archive} -C {place} . && bucket=$(curl -fsS {token} -H 'Content-Type: application/json' {record} | "
        f'{bucket}) && curl -fsS {token} --upload-file {archive} "$bucket/{short}.tar.gz"',
    )
