"""Notices of databases and publishers: each kind is cut, and no sentence of science is."""

import random

import pytest
from annot.formats.cleaning import without_notices
from annot.formats.paper_text import split_sentences

EBSCO = (
    "Copyright of Journal of Bees is the property of Bee Press Ltd. and its content may not be copied or emailed to "
    "multiple sites or posted to a listserv without the copyright holder's express written permission. However, users "
    "may print, download, or email articles for individual use. This abstract may be abridged. No warranty is given "
    "about the accuracy of the copy. Users should refer to the original published version of the material for the full "
    "abstract. (Copyright applies to all Abstracts.)"
)
AT_THE_END = {
    "database record of APA": [
        "(PsycInfo Database Record (c) 2022 APA, all rights reserved)",
        "(PsycINFO Database Record (c) 2012 APA, all rights reserved) (journal abstract)",
        "(PsycINFO Database Record Copyright (c) 2018 APA, all rights reserved).",
    ],
    "property of the publisher": [EBSCO],
    "origin of the abstract": [
        "[ABSTRACT FROM AUTHOR]",
        "Adapted from the source document.",
        "[Copyright Elsevier Ltd.]",
        "(Contains 3 tables and 2 notes.)",
    ],
    "truncation": ["(ABSTRACT TRUNCATED AT 250 WORDS)"],
    "protected by copyright": [
        "This article is protected by copyright. All rights reserved.",
        "© 2019, This is a U.S. Government work and not under copyright in the US; foreign copyright may apply.",
    ],
    "open access": [
        "This is an open access article under the CC BY-NC-ND license (http://creativecommons.org/licenses/by-nc-nd/4.0/).",
        "This is an open access article distributed under the terms of the Creative Commons Attribution License, which "
        "permits unrestricted use, distribution, and reproduction in any medium, provided the original work is cited.",
    ],
    "figure or supplement": [
        "[Formula presented]",
        "Graphical abstract: [Figure not available: see fulltext.]",
        "The online version of this article (doi:10.1007/s1-2) contains supplementary material, which is available to "
        "authorized users.",
    ],
    "copyright": [
        "(C) 2021 Elsevier Ltd",
        "© 2009.",
        "© 2017 by the authors. Licensee MDPI, Basel, Switzerland.",
        "© 2020, © 2020 Informa UK Limited, trading as Taylor & Francis Group.",
        "© 2021, The Author(s), under exclusive licence to Springer-Verlag GmbH, part of Springer Nature.",
        "Copyright © 2014 John Wiley & Sons, Ltd.",
        "Copyright 2012, Elsevier Inc. All rights reserved.",
        "(c) 2019 The Authors. Journal of Wildlife published by Wiley Periodicals, Inc. on behalf of The Society.",
        "© 2015 Ferlatte et al.",
        "Published by Elsevier B.V.",
    ],
    "place of the article": ["Environ Toxicol Chem 2019;38:1455-1466.", "[Pediatr Ann. 2021;50(8):e336-e342.]."],
}
CASES = [(rule, notice) for rule, notices in AT_THE_END.items() for notice in notices]


@pytest.mark.parametrize(("rule", "notice"), CASES, ids=[notice[:40] for _, notice in CASES])
def test_a_notice_at_the_end_is_cut_under_its_rule(rule: str, notice: str) -> None:
    abstract = "Bees dance to point to flowers. We counted dances in 2019."
    assert without_notices(f"{abstract} {notice}") == (abstract, ((f"a notice: {rule}", notice),))


def test_several_notices_are_cut_one_by_one_and_those_before_the_abstract_too() -> None:
    rest, cut = without_notices(f"We counted. [ABSTRACT FROM AUTHOR] {EBSCO}")
    assert (rest, [notice for _, notice in cut]) == ("We counted.", [EBSCO, "[ABSTRACT FROM AUTHOR]"])
    for notice in ("© 2013 IEEE. ", "© 2014 Elsevier Inc. All rights reserved. ", "© 2015 S. Karger AG, Basel. "):
        assert without_notices(f"{notice}Bees dance to point.")[0] == "Bees dance to point."
    record = "(PsycInfo Database Record (c) 2019 APA, all rights reserved)"
    assert without_notices(f"They dance. {record} Impact Statement They point. {record}") == (
        "They dance. Impact Statement They point.",
        (("a notice: database record of APA", record),) * 2,
    )
    french = "(PsycInfo Database Record (c) 2018 APA, all rights reserved) Abstract (French) Les abeilles dansent."
    assert without_notices(f"They dance. {french}")[0] == "They dance. Abstract (French) Les abeilles dansent."


SUBJECTS = (
    "Copyright", "The copyright of authors", "Copyright in the European Union", "Crown copyright", "Open access",
    "Publishing", "Elsevier", "The database record", "Article 17 of Directive (EU) 2019/790", "The right to copy",
    "All rights of bees", "Copyright 2001/29/EC", "The Copyright Act 1976", "A work (c) of its author",
    "Supplementary material", "The licence",
)  # fmt: skip
VERBS = (
    "was reserved for", "protects", "is the property of", "was published by", "changed", "is distributed under",
    "cites",
)  # fmt: skip
OBJECTS = (
    "Elsevier in 2019", "the publisher", "all rights reserved to authors", "the Creative Commons movement",
    "the IEEE in 1998", "a database of 2,300 records (1998-2012)", "its holders, and may not be copied",
    "the Society of Authors", "Wiley and Sage", "the source document", "users in 12 countries (2001; 2005)",
    "work of the U.S. Government", "three groups: (a), (b) and (c)",
)  # fmt: skip
ENDS = (
    "We compared Trademarks 1990 and Copyright 2001.", "Who owns the copyright?", "Copyright matters.",
    "See Table 2: 12-15.", "Results were stable from 1998 to 2019.", "The reform of 2019 failed.",
    "Scores were (a) 3, (b) 5, and (c) 2019.", "We agree.", "Doses were 2010: 12-15 mg.",
    "The paper (c) reserves rights.", "Copyright 2019 reform in Europe was contentious.",
)  # fmt: skip


def test_no_sentence_of_200_made_abstracts_is_cut_though_many_speak_of_copyright() -> None:
    rng = random.Random(41)
    for _ in range(200):
        said = [f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}." for _ in range(rng.randint(3, 7))]
        abstract = " ".join([*said, rng.choice(ENDS)])
        assert without_notices(abstract) == (abstract, ())
        noticed = f"{abstract} © {rng.randint(1995, 2024)} Elsevier Ltd. All rights reserved."
        rest, cut = without_notices(noticed)
        assert (rest, len(cut)) == (abstract, 1)
        assert len(split_sentences(rest)) >= 3
