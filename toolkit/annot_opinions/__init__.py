"""Wing for models' opinions: what a task must not show of them.

Uses every room of the core up to `steps`. Begin with `hidden`.
"""

PARTS = {
    "hidden_words": {"opinions": "annot_opinions.hidden:WORDS"},
    "predictors": {"opinions": "annot_opinions.predicting:predict"},
}
