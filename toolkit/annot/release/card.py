"""The dataset card: a README with the YAML header that a hub reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annot.formats.beir import SPLIT, BeirFiles
from annot.formats.irds import dataset_id, module_name
from annot.release.answers import agreement_table, grades_table, markdown_table, per_item, simulation_notice
from annot.release.collection import CollectionFacts
from annot.release.licences import known_licence, licence
from annot.templating import render

TEMPLATE = "card.md.j2"
SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
    (10**9, "100M<n<1B"),
)


def size_category(count: int) -> str:
    """The hub's name for a number of rows.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    return next((name for limit, name in SIZES if count < limit), "n>1T")


def hub_header(facts: CollectionFacts, beir: BeirFiles) -> dict[str, Any]:
    """The header as the hub's dataset card specification names its keys.

    The size is that of the largest table: papers, or final grades. Configurations are those that MTEB loads: `default`
    (qrels), `corpus`, `queries`, `top_ranked`; without texts, only the two that hold ids. All are JSON Lines, since
    `datasets` reads the files of a repository as one format.
    """
    found = licence(facts.licence)
    texts = known_licence(facts.text_licence) if facts.with_text else None
    both = texts is not None and texts.hub not in (found.hub, "other") and found.hub != "other"
    header: dict[str, Any] = {
        "pretty_name": facts.title,
        "language": [facts.language.split("-")[0].lower()],
        "license": [found.hub, texts.hub] if texts is not None and both else found.hub,
    }
    if found.hub == "other":
        header |= {"license_name": dataset_id(found.name), "license_link": found.url}
    configs = [_config("default", SPLIT, beir.hub_qrels)]
    if facts.with_text:
        configs += [_config("corpus", "corpus", beir.corpus), _config("queries", "queries", beir.queries)]
    return header | {
        "size_categories": [size_category(max(facts.papers, facts.pairs))],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "annotations_creators": [_creators(facts)],
        "multilinguality": ["monolingual"],
        "tags": ["information-retrieval", "test-collection", "query-by-example", *facts.keywords],
        "configs": [*configs, _config("top_ranked", SPLIT, beir.top_ranked)],
    }


def dataset_card(
    facts: CollectionFacts,
    *,
    beir: BeirFiles,
    files: Mapping[str, str],
    csfcube: str | None,
    overrides: Path | None,
) -> str:
    """The card. `files` says what each file or folder of the release holds; `csfcube` is that format's folder, if any.

    overrides: a folder of templates that win over the package's.
    """
    found = licence(facts.licence)
    values = {
        "facts": facts,
        "header": yaml_text(hub_header(facts, beir)),
        "notice": simulation_notice(facts),
        "grades_table": grades_table(facts),
        "agreement_table": agreement_table(facts),
        "files_table": markdown_table(["file", "what it holds"], [[f"`{path}`", what] for path, what in files.items()]),
        "irds_module": module_name(facts.name),
        "irds_id": dataset_id(facts.name),
        "licence": found,
        "made": _made(facts),
        "beir": beir,
        "csfcube": csfcube,
    }
    return render(TEMPLATE, values, overrides=overrides)


def yaml_text(values: Mapping[str, Any], *, indent: str = "") -> str:
    """A mapping of texts, lists and mappings as YAML. Texts are JSON strings, which YAML reads as they are."""
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{indent}{key}: {_scalar(value)}")
            continue
        lines.append(f"{indent}{key}:")
        for item in value:
            if isinstance(item, str):
                lines.append(f"{indent}- {_scalar(item)}")
            else:
                inner = yaml_text(item, indent=indent + "  ")
                lines.append(f"{indent}- {inner.lstrip()}")
    return "\n".join(lines)


def _scalar(text: str) -> str:
    # YAML takes U+2028 for a line break and refuses C1 controls; escaped they are the same in both languages.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)


def _creators(facts: CollectionFacts) -> str:
    if facts.judging.simulated:
        return "machine-generated"
    return "found" if facts.judging.imported else "expert-generated"


def _made(facts: CollectionFacts) -> str:
    """What stands behind a final grade."""
    independent = "" if facts.judging.imported else "independent "
    judgements = "judgement" if per_item(facts) == "1" else "judgements"
    adjudicated = " and adjudication" if facts.adjudicated or not facts.judging.imported else ""
    return f"{per_item(facts)} {independent}{judgements} each{adjudicated}"


def _config(name: str, split: str, path: str) -> dict[str, Any]:
    return {"config_name": name, "data_files": [{"split": split, "path": path}]}
