"""What a file is, by how it begins."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.steps.imports import kind_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("query_id,doc_id,assessor,grade\nq1,d1,a1,2\n", "judgements"),
        ("query_id\tdoc_id\tassessor\tgrade\nq1\td1\ta1\t2\n", "judgements"),
        ('{"query_id": "q1", "doc_id": "d1", "assessor": "a1", "grade": 2}\n', "judgements"),
        ("q1 0 d1 2\n", "grades"),
        ("q1 Q0 d1 2\nq1 Q0 d2 0\n", "grades"),
        ("1 4.5 005b2j4b 2\n", "grades"),
        ("51\t0\tclueweb09-1\t-2\n", "grades"),
        ("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "grades"),
        ('{"query-id": "q1", "corpus-id": "d1", "score": 1}\n', "grades"),
        ("query_id,doc_id,assessor,label\nq1,d1,a1,2\n", "judgements"),
        ('[{"id": 1, "annotations": []}]', "labelstudio"),
        ("citing,cited\np1,p2\n", "citations"),
        ('{"citingcorpusid": 1, "citedcorpusid": 2}\n', "citations"),
    ],
)
def test_a_kind_is_known_by_the_beginning_of_the_text(tmp_path: Path, text: str, kind: str) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text, encoding="utf-8")
    assert kind_of([file]) == kind


@pytest.mark.parametrize("text", ["", "hello\n", "[1, 2]", "q1 2 d1 0\n", "q1 0 d1 0 more\n", "doc,grade\nd1,2\n"])
def test_what_is_of_no_kind_is_refused_with_the_kinds_there_are(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="unknown kind of file") as error:
        kind_of([file])
    assert error.value.hint.startswith("name it with --as csfcube|judgements|grades|labelstudio|citations; papers are")


@pytest.mark.parametrize(("name", "known"), [("abstracts-csfcube-preds.jsonl", True), ("notes.txt", False)])
def test_a_folder_is_a_release_by_the_names_of_its_files(tmp_path: Path, name: str, known: bool) -> None:
    (tmp_path / name).touch()
    if known:
        assert kind_of([tmp_path]) == "csfcube"
        return
    with pytest.raises(InputError, match="unknown kind of file"):
        kind_of([tmp_path])
