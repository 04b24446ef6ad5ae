"""Wing for models' opinions: asked, kept apart from people's grades, measured against them, reported and released.

Uses every room of the core. Begin with `asking`; `steps` has the commands' work, `measured` the figures of a study.
"""

PARTS = {
    "commands": {f"opinion {verb}": "annot_opinions.commands:Settle" for verb in ("ask", "list", "qrels", "report")},
    "hidden_words": {"opinions": "annot_opinions.on_record:WORDS"},
    "predictors": {"opinions": "annot_opinions.predicting:predict"},
    "release_files": {"opinions": "annot_opinions.releasing:released_opinions"},
    "report_sections": {"opinions": "annot_opinions.chapters:SECTIONS"},
}
