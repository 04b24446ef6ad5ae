"""Wrong input for the commands of Settle."""

from spoiling import add_to, write
from wrong import Wrong

WRONG: dict[str, Wrong] = {
    "agreement: by nothing known": Wrong("agreement", "--by assesor", ("--by 'assesor'", "'assessor'?"), "judged"),
    "agreement: binarised off the scale": Wrong(
        "agreement", "--binarised-at 9", ("9", "expected one of 1, 2, 3"), "judged"
    ),
    "qrels: before the adjudication is finished": Wrong(
        "qrels", "", ("without a final grade", "in dispute, not adjudicated", "--partial"), "judged"
    ),
    "qrels compare: other queries": Wrong(
        "qrels compare",
        "exports/qrels.txt b.txt",
        ("the two files have no query of this study in common", "b.txt: found 31"),
        "measured",
        write("b.txt", "31 0 d 1\n"),
    ),
    "opinion ask: a model that is not in the settings": Wrong(
        "opinion ask", "small", ("opinion 'small': not in annot.toml", "[opinions.small]"), "planned"
    ),
    "opinion ask: no model is named": Wrong(
        "opinion ask",
        "small",
        ("opinions.small: model: expected the name of the model",),
        "planned",
        add_to("annot.toml", "[opinions.small]\n"),
    ),
    "opinion ask: an address with a password": Wrong(
        "opinion ask",
        "small",
        ("opinions.small: url: found a user name", "ANNOT_OPINION_KEY"),
        "planned",
        add_to("annot.toml", '[opinions.small]\nmodel = "m"\nurl = "http://me:secret@host/v1"\n'),
    ),
    "opinion qrels: nothing was asked": Wrong(
        "opinion qrels", "small", ("opinion small: no model was asked under this name", "annot opinion ask"), "judged"
    ),
    "substudy draw: more queries than there are": Wrong(
        "substudy draw",
        "--assessor j1 --queries 90",
        ("the sub-study cannot be drawn", "expected 90", "--queries"),
        "settled",
    ),
    "return: a table without reasons": Wrong(
        "return",
        "--file mine.csv",
        ("mine.csv", "found no column 'to'", "found no column 'why'"),
        "judged",
        write("mine.csv", "query_id,doc_id\n"),
    ),
}
