"""Checksums and the search for leaks: what is planted is found however it is written, and clean text stays clean."""

import hashlib
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats.beir import beir_paths, fields_of, module_name, write_beir, write_irds
from annot.formats.trec import write_qrels
from annot.publishing.release.leaks import Secret, addresses, leaks
from annot.publishing.release.prose import croissant, dataset_card, datasheet_html, datasheet_markdown, release_tables
from annot.publishing.release.released_files import bundle
from annot_csfcube.files import Material, write_csfcube
from collection_facts import demo_facts
from demo_collection import demo_material, demo_qrels

NAME = ("name", "Zoë van der Plánt")
MAIL = ("e-mail", "zoe.plant+ls@Uni-Example.edu")
TOKEN = ("token", "8f3kk-SECRET-token/value+0")
SECRETS = (NAME, MAIL, TOKEN)


def found(text: str | bytes, *secrets: Secret, allowed: tuple[str, ...] = ()) -> set[str]:
    content = text.encode() if isinstance(text, str) else text
    return {finding.what for finding in leaks({"file.txt": content}, secrets, allowed=allowed)}


def test_sha256sum_accepts_the_sums_and_the_bytes_do_not_depend_on_the_order(tmp_path: Path) -> None:
    files = {"b/ä.txt": b"two", "a.txt": b"one", "B.txt": b""}
    release = bundle(files)
    assert bundle(dict(reversed(files.items()))) == release
    assert list(release) == sorted([*files, "SHA256SUMS"])
    for path, content in release.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    if (program := shutil.which("sha256sum")) is None:
        pytest.skip("no sha256sum")
    subprocess.run([program, "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)
    (tmp_path / "a.txt").write_bytes(b"other")
    assert subprocess.run([program, "--check", "--status", "SHA256SUMS"], cwd=tmp_path).returncode == 1


def test_names_of_files_that_would_not_unpack_everywhere_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        bundle(dict.fromkeys(["ok.txt", "OK.txt", "a.txt"], b""))
    assert caught.value.faults == ("ok.txt, OK.txt: expected names that differ in more than upper and lower case",)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("write to someone.else@host.example today", "an e-mail address"),
        ('"by": "x\\u0040host.example"', "an e-mail address"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyIjoxMjM0fQ.abcdef", "a token (JWT)"),
        ("Authorization: Token 0123456789abcdef0123456789abcdef01234567", "a token of Label Studio"),
        ("Bearer abcdefghijklmnop1234", "a token"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
        ("postgresql://lead:hunter2@db.example/annot", "a password in a URL"),
        ('password = "correct-horse"', "a password"),
        ('{"id": 7, "completed_by": 3}', "a field of Label Studio"),
        ("task_id,lead_time,grade", "a field of Label Studio"),
        ("see http://localhost:8080/projects/3/data?task=17", "an address of a server"),
        ("see http://192.168.1.20/", "an address of a server"),
        ("https://studio.example/api/tasks/17", "an address of a server"),
    ],
)
def test_what_nobody_planted_is_found_by_its_pattern(text: str, what: str) -> None:
    assert what in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "P@20.The nDCG@10.Our run@k.2",
        "sha1 0123456789abcdef0123456789abcdef01234567",
        "task_ids:\n- document-retrieval",
        "Judged with Label Studio Community 1.23.2; the tokens of a document; pass words on",
        "https://ir-datasets.com/api.html and https://10.example.org and 10.18653/v1/N19-1",
        "the lead time is kept; the project id was not",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert found(text) == set()


def test_real_abstracts_raise_nothing_but_the_addresses_printed_in_them(shared: Path) -> None:
    content = (shared / "csfcube" / "abstracts-csfcube-preds.jsonl").read_bytes()
    public = addresses([content.decode()])
    assert 1 <= len(public) <= 20
    assert leaks({"x": content}, SECRETS, allowed=public) == ()


CONTACT = "help@collection.example"
OF_PEOPLE = (
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
    assert leaks(whole(material), OF_PEOPLE, allowed={CONTACT}) == ()


def test_the_contact_address_is_a_finding_until_it_is_allowed(material: Material) -> None:
    findings = leaks(whole(material), OF_PEOPLE, allowed=())
    assert {(finding.path, finding.what) for finding in findings} == {
        ("DATASHEET.md", "an e-mail address"),
        ("datasheet.html", "an e-mail address"),
    }


SLIPPED = {
    "ask ada.planter@JUDGES.example": "a known e-mail",
    "Planter, Ada told me": "a known name",
    "token 0123456789ABCDEF0123456789abcdef01234567": "a known token",
    "see STUDIO.judges.example:8080/projects/2": "a known studio address",
    "task_id: 4711": "a known studio id",
}


def test_what_assessors_let_slip_in_comments_is_found(material: Material) -> None:
    told = [replace(one, comment=comment) for one, comment in zip(material.judgements, SLIPPED, strict=False)]
    findings = [
        one
        for one in leaks(
            whole(replace(material, judgements=(*told, *material.judgements[len(told) :]))),
            OF_PEOPLE,
            allowed={CONTACT},
        )
        if one.path == "judgements.jsonl"
    ]
    assert {*enumerate(SLIPPED.values(), 1)} <= {(one.line, one.what) for one in findings}
    assert not any(one.shown and one.shown in comment for one in findings for comment in SLIPPED)
