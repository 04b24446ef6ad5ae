"""The demonstration's collection, and the facts that are told of it."""

import pytest
from annot.publishing.release.collection_facts import CollectionFacts
from annot_csfcube.files import Material
from collection_facts import demo_facts
from demo_collection import demo_material


@pytest.fixture(scope="module")
def material() -> Material:
    return demo_material()


@pytest.fixture(scope="module")
def facts(material: Material) -> CollectionFacts:
    return demo_facts(material)
