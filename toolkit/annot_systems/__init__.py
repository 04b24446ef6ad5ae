"""Wing for the systems of the sources: published figures.

Uses every room of the core up to `steps`.
"""

published_figures = {
    name: f"annot_systems.published:{name}.toml"
    for name in ("aspire", "aspire-relish", "aspire-treccovid-rf", "scisearch")
}
