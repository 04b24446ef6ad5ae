"""Sealed keys: nothing of the pair is in them, and whoever has the secret reads them again."""

from annot.labelstudio.tasks import TaskKeys, pair_key
from labelling_texts import task

SECRET, OTHER = "0f" * 32, "a1" * 32
PAIRS = [(f"fic1-{facet}", f"fic{100 + number}") for facet in ("method", "result") for number in range(40)]


def sealed(keys: TaskKeys, project: int, key: str) -> str:
    made = task()
    sent = keys.sealed(project, {**made, "data": {**made["data"], "pair_id": key}})
    data = sent["data"]
    assert isinstance(data, dict)
    assert {name: text for name, text in data.items() if name != "pair_id"} == {
        name: text for name, text in made["data"].items() if name != "pair_id"
    }
    return str(data["pair_id"])


def test_a_sealed_key_opens_again_and_tells_nothing() -> None:
    keys = TaskKeys([SECRET], PAIRS)
    plain = [pair_key(*pair, occasion) for pair in PAIRS for occasion in (1, 2)]
    shown = [sealed(keys, 7, key) for key in plain]
    assert [keys.opened(7, key) for key in shown] == plain
    assert len(set(shown)) == len(plain)
    assert {len(key) for key in shown} == {24}, "a repeat looks like any other"
    assert not any("fic" in key or "/" in key for key in shown)


def test_the_same_pair_has_another_key_in_each_project_and_in_each_study() -> None:
    key = pair_key(*PAIRS[0])
    keys, elsewhere = TaskKeys([SECRET], PAIRS), TaskKeys([OTHER], PAIRS)
    shown = {sealed(keys, 7, key), sealed(keys, 8, key), sealed(elsewhere, 7, key)}
    assert len(shown) == 3
    assert keys.opened(8, sealed(keys, 7, key)) == sealed(keys, 7, key), "of another project: not ours"


def test_keys_of_before_and_of_strangers_stay_as_they_are() -> None:
    keys = TaskKeys([SECRET, OTHER], PAIRS)
    assert keys.opened(7, sealed(TaskKeys([OTHER], PAIRS), 7, pair_key(*PAIRS[3]))) == pair_key(*PAIRS[3])
    for key in (pair_key(*PAIRS[1]), "who/knows", "0" * 24):
        assert keys.opened(7, key) == key


def test_up_to_nine_occasions_of_a_pair_are_recognised() -> None:
    keys = TaskKeys([SECRET], PAIRS)
    for occasion, opens in ((9, True), (10, False)):
        plain = pair_key(*PAIRS[0], occasion)
        assert (keys.opened(7, sealed(keys, 7, plain)) == plain) is opens
