"""Which tests `make test FILE=...` runs."""

from tests_of import CHECKOUT, MOST, belonging_to, module_of

ROOM = CHECKOUT / "toolkit" / "annot"


def test_a_module_has_the_tests_that_import_it_first_those_of_its_room() -> None:
    tests = belonging_to(ROOM / "steps" / "pool.py")
    assert len(tests) <= MOST
    assert CHECKOUT / "tests" / "steps" / "test_pools_grown.py" in tests
    assert all("annot.steps" in path.read_text(encoding="utf-8") for path in tests)


def test_a_package_is_named_by_its_folder() -> None:
    assert module_of(ROOM / "steps" / "__init__.py") == "annot.steps"
