"""Wing for the systems of the sources: those that compare sentences, SciSearch, their training and published figures.

Uses every room of the core. Begin with `sentences`; `training_loop` makes the weights of encoders.
"""

PARTS = {
    "commands": {f"encoder {verb}": "annot_systems.commands:Measure" for verb in ("contexts", "examples", "train")},
    "published_figures": {
        name: f"annot_systems.published:{name}.toml"
        for name in ("aspire", "aspire-relish", "aspire-treccovid-rf", "scisearch")
    },
    "systems": {
        "sentences": "annot_systems.sentences:SYSTEMS",
        "aspire": "annot_systems.sentences:ASPIRE_SYSTEMS",
        "scisearch": "annot_systems.scisearch:SYSTEMS",
    },
    "weights_systems": {"sentences": "annot_systems.sentences:own_system"},
}
