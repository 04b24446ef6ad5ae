"""Wrong input for the commands of Judge that plan, explain and follow the work."""

from spoiling import replace, sql, write
from usual import isolated
from wrong import NOWHERE, Wrong

WRONG: dict[str, Wrong] = {
    "status: labels that the screen confuses": Wrong(
        "status",
        "",
        ("labels.names", "label 'my-method' is or ends with label 'method'"),
        spoil=replace("annot.toml", '"result", "other"]', '"result", "my-method"]'),
    ),
    "assessor add: no name of this kind": Wrong("assessor add", "a/1 --account a@example.org", ("found 'a/1'",)),
    "assessor add: no e-mail address": Wrong("assessor add", "a1 --account ann", ("--account: expected an e-mail",)),
    "assessor add: server down": Wrong(
        "assessor add",
        f"a1 --account a@example.org --url {NOWHERE} --api-key not-a-real-token",
        (f"no server answers at {NOWHERE}",),
        exit_code=3,
    ),
    "assessor change: unknown": Wrong(
        "assessor change", "a7 --account x@example.org", ("assessor 'a7': not known; expected one of a1",), "planned"
    ),
    "assessor change: one server for all": Wrong(
        "assessor change", "a1 --server https://a1.example.org", ('found "project"', "under [judging]"), "planned"
    ),
    "assessor change: no token": Wrong(
        "assessor change",
        f"a1 --server {NOWHERE}",
        ("LABEL_STUDIO_API_KEY is not a token",),
        "planned",
        isolated,
        exit_code=3,
    ),
    "assessor leave: by themselves": Wrong(
        "assessor leave", "a1 --to a1", ("found the person who leaves, expected another",), "planned"
    ),
    "assessor leave: tasks on a server that cannot be asked": Wrong(
        "assessor leave",
        "a1",
        ("no Label Studio is running here", "--offline"),
        "planned",
        sql(
            "INSERT INTO project (round, assessor, server, url, version, remote_id, set_back) "
            "VALUES ('judge', 'a1', 's', 'u', '1', 1, '[]')",
            "INSERT INTO task SELECT 1, query_id, doc_id, 1, 7, '[]' FROM assignment WHERE assessor = 'a1' LIMIT 1",
        ),
        exit_code=3,
    ),
    "guidelines: unknown facet": Wrong("guidelines", "metod", ("facet 'metod'", "did you mean 'method'?")),
    "guidelines: too long a definition": Wrong(
        "guidelines",
        "method",
        ("guidelines/method.md", "200 characters, expected 1 to 140"),
        spoil=write("guidelines/method.md", f"# Method\n\n{'x' * 200}\n"),
    ),
    "guidelines: a template with a wrong tag": Wrong(
        "guidelines",
        "method --screen",
        ("templates/judge.xml.j2:1:", "correct the template"),
        spoil=write("templates/judge.xml.j2", "{% for grade in grades %}"),
    ),
    "guidelines: a template that is no XML": Wrong(
        "guidelines",
        "method --screen",
        ("judge.xml.j2", "not a valid labelling configuration"),
        spoil=write("templates/judge.xml.j2", "<View>"),
    ),
    "guidelines: a control for nothing": Wrong(
        "guidelines",
        "method --screen",
        ("judge.xml.j2", "nowhere"),
        spoil=write(
            "templates/judge.xml.j2",
            '<View><Text name="pair" value="$pair_html"/><Choices name="rating" toName="nowhere">'
            '<Choice value="0"/></Choices></View>',
        ),
    ),
    "comments: a day that is none": Wrong(
        "comments", "--since soon", ("--since 'soon': not a date, expected ISO 8601",), "judged"
    ),
    "plan: too few assessors": Wrong("plan", "", ("0 assessors, expected at least 2", "annot assessor add"), "pooled"),
    "plan: shares that are none": Wrong(
        "plan",
        "--share a1 --share a2=-1 --share a3=many",
        ("--share a1: expected a name and a number above 0", "--share a2=-1", "--share a3=many"),
        "planned",
    ),
    "forecast: more for a pair than there are": Wrong(
        "forecast", "--design --assessors 2 --per-pair 3", ("2", "3"), "settled"
    ),
    "plan: only new without a share": Wrong(
        "plan", "--only-new", ("--only-new can only be used with --sample, --hours or --cost",), "pooled"
    ),
    "status: a facet that is a path": Wrong(
        "status", "", ("facets", "'../x'"), spoil=replace("annot.toml", "[facets]", '[facets]\n"../x" = ["result"]')
    ),
    "train gold: rows that cannot be used": Wrong(
        "train gold",
        "gold.csv",
        (
            "gold.csv: 4 faults",
            "gold.csv:2: query 'fic0407-backgruond': not in this study; did you mean 'fic0407-background'?",
            "gold.csv:3: grade: found '4', expected one of 0, 1, 2, 3",
            "gold.csv:5: fic0407-background fic0101: given twice",
            "gold.csv:6: doc_id is empty",
        ),
        "settled",
        write(
            "gold.csv",
            "query_id;doc_id;grade;why\nfic0407-backgruond;fic0101;1;x\nfic0407-background;fic0102;4;x\n"
            "fic0407-background;fic0101;2;x\nfic0407-background;fic0101;1;x\nfic0407-background;;1;x\n",
        ),
    ),
    "train gold: a column that is not there": Wrong(
        "train gold",
        "gold.csv",
        ("found no column 'why'", "query_id, doc_id, grade and why"),
        "settled",
        write("gold.csv", "query_id,doc_id,grade\nfic0407-background,fic0101,1\n"),
    ),
    "answers restore: a stranger": Wrong(
        "answers restore", "fic0407-background fic0101 --assessor a9", ("'a9'", "a1, a2"), "judged"
    ),
}
