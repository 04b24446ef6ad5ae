"""Recipes of the trained systems: the loss, the examples and the settings that each paper states.

Sources: Cohan et al. 2020 (SPECTER), section 4; Mysore et al. 2022 (Aspire), sections 3.1 to 3.2 and appendices C to F;
details that Aspire leaves open (sizes of batches that are read at once, the two encoders of sentences) are as in the
settings that its authors published (github.com/allenai/aspire, `config/models_config`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.formats.json_lines import in_words

Of = Literal["triplets", "cocited papers", "cocited contexts", "cloze"]
"""Source of the examples."""
Reads = Literal["document", "sentence", "context"]
"""A paper as one vector, a text as one vector, or a paper as the vectors of its sentences."""
Loss = Literal["triplet", "softmax"]
"""max(d(q, p) - d(q, n) + margin, 0); or the cross entropy of the dot products of a query with all positives."""
Distance = Literal["vector", "context aligned", "abstract aligned", "single", "transport", "attention"]
"""L2 of two vectors; of two sentences that another encoder aligned, by the contexts or by themselves; of the nearest
two; the minimum of transport, entropy and all; <D, A> over attention weights."""

MOST = 10**9
"""Largest number that a setting may have, so that a training ends."""
Count = Annotated[int, Field(ge=1, le=MOST)]
Share = Annotated[float, Field(ge=0, le=MOST)]
Above = Annotated[float, Field(ge=1e-6, le=MOST)]


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """Settings of a training."""

    batch: Count
    """Examples of one step of the optimiser."""
    at_once: Count
    """Examples that are read at once; negatives within a batch are from these."""
    learning_rate: Share
    warm_up: Share
    """Steps until the learning rate is at its height; below 1, as a share of all steps."""
    epochs: Count
    loss: Loss
    margin: Share = 1.0
    check_every: Annotated[int, Field(ge=0, le=MOST)] = 0
    """Steps between two looks at the dev examples, when the state is saved too; 0: ten looks an epoch."""
    patience: Count = 5
    """Looks without a lower dev loss after which the training ends."""
    temperature: Above = 0.5
    """Temperature of Aspire's weights of sentences."""
    entropy: Above = 20.0
    """Lambda of Aspire's transport."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """Recipe for training one system."""

    system: str
    of: Of
    reads: Reads
    distances: tuple[Distance, ...]
    """Distances whose losses are summed."""
    ranks_by: Distance
    """Distance for dev examples: the one that the system ranks with."""
    start: str
    """System whose weights it starts from."""
    settings: RecipeSettings
    examples: int | None = None
    """Number of examples that are drawn; None: all."""
    two_towers: bool = False
    """True if queries and positives have an encoder each; that of the queries is kept."""

    @property
    def aligned(self) -> bool:
        """True if it needs another encoder, of sentences, to align by."""
        return bool({"context aligned", "abstract aligned"} & set(self.distances))


def _aspire(system: str, *distances: Distance, ranks_by: Distance, learning_rate: float = 2e-5) -> Recipe:
    settings = RecipeSettings(batch=30, at_once=10, learning_rate=learning_rate, warm_up=2000, epochs=1, loss="triplet")
    return Recipe(system, "cocited papers", "context", distances, ranks_by, "specter", settings, 1_300_000)


_SPECTER = RecipeSettings(batch=32, at_once=4, learning_rate=2e-5, warm_up=0.1, epochs=2, loss="triplet")
_COCITE = RecipeSettings(batch=30, at_once=3, learning_rate=2e-5, warm_up=2000, epochs=1, loss="triplet")
_COSENT = RecipeSettings(batch=48, at_once=48, learning_rate=2e-5, warm_up=300, epochs=2, loss="triplet")
_CLOZE = RecipeSettings(batch=60, at_once=10, learning_rate=2e-5, warm_up=12_000, epochs=1, loss="softmax")
_V: tuple[Distance, ...] = ("vector",)

RECIPES = {
    recipe.system: recipe
    for recipe in (
        Recipe("specter-id", "triplets", "document", _V, "vector", "scibert-uncased", _SPECTER, 660_000),
        Recipe("specter-cocite", "cocited papers", "document", _V, "vector", "specter", _COCITE, 1_300_000),
        Recipe("cosentbert", "cocited contexts", "sentence", _V, "vector", "scibert-uncased", _COSENT),
        Recipe("ictsentbert", "cloze", "sentence", _V, "vector", "scibert-uncased", _CLOZE, two_towers=True),
        _aspire("ts-aspire", "context aligned", ranks_by="single"),
        _aspire("abs-aspire", "abstract aligned", ranks_by="single"),
        _aspire("max-aspire", "single", ranks_by="single"),
        _aspire("ot-aspire", "transport", ranks_by="transport"),
        _aspire("ts+ot-aspire", "context aligned", "transport", ranks_by="transport", learning_rate=1e-5),
        _aspire("att-aspire", "attention", ranks_by="attention"),
    )
}
"""SPECTER-ID has the number of triples of CSFCube, SPECTER's own was 684,000. Aspire's mix of layers is not trained:
SPECTER-CoCite is read from the last one."""


_SETTINGS = TypeAdapter(RecipeSettings)


def recipe_of(system: str, **changes: object) -> Recipe:
    """Recipe of a system with these settings instead of its own, as numbers or as they are typed.

    Raises InputError with the near name, or when a value is not allowed or settings contradict each other.
    """
    check_name(system, tuple(RECIPES), what="system to train")
    recipe = RECIPES[system]
    defaults = asdict(recipe.settings)
    for name in changes:
        check_name(name, tuple(defaults), what="setting")
    try:
        settings = _SETTINGS.validate_python({**defaults, **changes})
    except ValidationError as error:
        raise InputError(f"{system}: cannot be trained with these settings", faults=in_words(error)) from None
    if settings.loss == "softmax" and (recipe.reads == "context" or recipe.of == "triplets"):
        raise InputError(f"loss: found softmax, expected triplet: {system} is trained on distances of triplets")
    if settings.at_once > settings.batch:
        settings = replace(settings, at_once=settings.batch)
    if settings.at_once < 2 and recipe.of != "triplets":
        raise InputError("at_once: found 1, expected 2 or more: negatives come from the examples read at once")
    return replace(recipe, settings=settings)
