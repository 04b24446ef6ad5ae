"""Asking a model whose opinion is to predict in a sampled study: what would not count is noted."""

from pathlib import Path

from annot_opinions.steps import Selection
from asked_study import ask, with_model
from sampled_study import judged, pooled
from scripted_server import serving


def test_what_is_asked_about_some_pairs_or_too_late_does_not_predict_and_the_result_says_why(tmp_path: Path) -> None:
    ws, pairs = pooled(tmp_path), tmp_path / "pairs.txt"
    text = ws.settings_file.read_text(encoding="utf-8")
    text = text.replace('predict = "ranker"', 'cheap_label = "small"\npredict = "ranker"')
    ws.settings_file.write_text(text, encoding="utf-8")
    with serving() as server:
        ws = with_model(ws, server.url)
        pairs.write_text("p1-method d01\n", encoding="utf-8")
        (note,) = ask(ws, selection=Selection(file=pairs), before_judging="A test.").notes
        assert "about all pooled pairs of a query, drawn or not" in note
        judged(ws, share=0.33)
        pairs.write_text("p1-method d02\n", encoding="utf-8")
        (note,) = ask(ws, selection=Selection(file=pairs)).notes
        assert note == "judgements of drawn pairs were pulled before: what was asked now does not predict grades"
