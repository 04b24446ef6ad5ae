"""All parts of a release together: rebuilt byte for byte, without a trace of the people behind the pseudonyms."""

import hashlib
import json
from dataclasses import replace

import pytest
from annot.formats.beir import beir_paths, fields_of, module_name, write_beir, write_irds
from annot.formats.trec import write_qrels
from annot.publishing.release.leaks import leaks
from annot.publishing.release.prose import croissant, dataset_card, datasheet_html, datasheet_markdown, release_tables
from annot.publishing.release.released_files import bundle
from annot_csfcube.files import Material, write_csfcube
from collection_facts import demo_facts
from demo_collection import demo_material, demo_qrels

CONTACT = "help@collection.example"
SECRETS = (
    ("e-mail", "ada.planter@judges.example"),
    ("e-mail", "jo@judges.example"),
    ("name", "Ada Planter"),
    ("token", "0123456789abcdef0123456789abcdef01234567"),
    ("studio id", "4711"),
    ("studio address", "http://studio.judges.example:8080"),
)


def whole(material: Material) -> dict[str, bytes]:
    """Every part that is written here, with the raw judgements in the order in which `material` has them."""
    facts = demo_facts(material)
    beir = beir_paths("beir/", with_text=True, worded=True)
    fields = fields_of(material.papers, material.queries, {}, with_text=True)
    qrels = demo_qrels(material)
    files = write_beir(
        papers=material.papers,
        queries=material.queries,
        texts={},
        qrels=qrels,
        pools=material.pools,
        judged={},
        folder="beir/",
        with_text=True,
    )
    files |= write_csfcube(material, folder="csfcube/", with_text=True)
    rows = [
        {"query_id": one.query_id, "doc_id": one.doc_id, "assessor": one.assessor, "comment": one.comment}
        for one in material.judgements
    ]
    sheet = datasheet_markdown(facts, {"maintenance.contact": CONTACT}, overrides=None)
    module = write_irds(
        facts.collection,
        fields=fields,
        files=beir,
        docs_sha256=hashlib.sha256(files[beir.corpus]).hexdigest(),
        with_text=True,
        facets=[facet["facet"] for facet in facts.facets],
        grades=facts.grades,
    )
    texts = {
        "qrels.txt": write_qrels(qrels),
        "judgements.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "DATASHEET.md": sheet,
        "datasheet.html": datasheet_html(facts, sheet, overrides=None),
        "README.md": dataset_card(facts, beir=beir, fields=fields, examples=(), holds={"csfcube"}, overrides=None),
        f"{module_name(facts.collection.name)}.py": module,
    }
    files |= {path: text.encode() for path, text in texts.items()}
    paths = {path for path in files if not path.startswith("csfcube/")}
    tables = [table for table in release_tables(beir, with_text=True, fields=fields) if table["file"] in paths]
    files["croissant.json"] = croissant(facts, files=files, tables=tables, answers={}).encode()
    return bundle(files)


def test_it_is_rebuilt_byte_for_byte_from_records_in_any_order(material: Material) -> None:
    turned = replace(
        material,
        papers=material.papers[::-1],
        pools=material.pools[::-1],
        judgements=material.judgements[::-1],
        decisions=material.decisions[::-1],
    )
    one, other = whole(material), whole(turned)
    # The raw judgements follow the order given, and so do the files with their checksum.
    assert {path for path in one if one[path] != other[path]} == {"judgements.jsonl", "croissant.json", "SHA256SUMS"}
    assert whole(demo_material()) == one


def test_nothing_of_the_people_and_the_server_is_in_it(material: Material) -> None:
    assert leaks(whole(material), SECRETS, allowed={CONTACT}) == ()


def test_the_contact_address_is_a_finding_until_it_is_allowed(material: Material) -> None:
    findings = leaks(whole(material), SECRETS, allowed=())
    assert {(finding.path, finding.what) for finding in findings} == {
        ("DATASHEET.md", "an e-mail address"),
        ("datasheet.html", "an e-mail address"),
    }


@pytest.mark.parametrize(
    ("comment", "what"),
    [
        ("ask ada.planter@JUDGES.example", "a known e-mail"),
        ("Planter, Ada told me", "a known name"),
        ("token 0123456789ABCDEF0123456789abcdef01234567", "a known token"),
        ("see STUDIO.judges.example:8080/projects/2", "a known studio address"),
        ("task_id: 4711", "a known studio id"),
    ],
)
def test_what_an_assessor_let_slip_in_a_comment_is_found(material: Material, comment: str, what: str) -> None:
    told = replace(material, judgements=(replace(material.judgements[0], comment=comment), *material.judgements[1:]))
    findings = leaks(whole(told), SECRETS, allowed={CONTACT})
    assert (what, 1) in {(finding.what, finding.line) for finding in findings if finding.path == "judgements.jsonl"}
    assert not any(finding.shown and finding.shown in comment for finding in findings)
