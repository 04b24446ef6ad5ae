"""Wrong input for the commands of Help."""

from spoiling import replace, write
from usual import isolated
from wrong import Wrong

WRONG: dict[str, Wrong] = {
    "studio up: a server each for nobody": Wrong(
        "studio up", "", ("no assessors yet", "annot assessor add"), "made", isolated
    ),
    "doctor: an option that is none": Wrong("doctor", "--fix", ("No such option: --fix",)),
    "studio up: a port that is none": Wrong(
        "studio up", "--port 99999", ("less than or equal to 65535",), environment={"ANNOT_STUDIO_VENV": "nowhere"}
    ),
    "studio up: a database without a server for all": Wrong(
        "studio up",
        "--domain s.example.org --database postgresql://u:secret@h/d",
        ("--database can only be used with --shared",),
        "planned",
    ),
    "studio up: nobody to have a server": Wrong("studio up", "--domain s.example.org", ("no assessors yet",), "made"),
    "studio service: no domain": Wrong("studio service", "", ("no domain yet", "--domain"), "made"),
    "studio nightly: no time": Wrong("studio nightly", "noon", ("expected a time such as 03:15",), "made"),
    "figures: a use that is none": Wrong("figures", "--for poster", ("'poster' is not one of",)),
    "paper: an option that is none": Wrong("paper", "--for paper", ("No such option: --for",)),
    "studio down: an option that is none": Wrong("studio down", "--port 1", ("No such option: --port",)),
    "studio status: no Label Studio where it is said to be": Wrong(
        "studio status",
        "",
        ("ANNOT_STUDIO_VENV=nowhere: no bin/label-studio found in it",),
        exit_code=3,
        environment={"ANNOT_STUDIO_VENV": "nowhere"},
    ),
    "demo: another study's folder": Wrong(
        "demo", ".", ("found the study 'mine'",), spoil=replace("annot.toml", '"annot-demo"', '"mine"')
    ),
    "demo: a folder that is in use": Wrong("demo", "../in-use", ("in-use: not empty",), spoil=write("../in-use/x", "")),
    "demo: a file": Wrong("demo", "papers.jsonl", ("papers.jsonl: ",)),
    "demo: papers over another file": Wrong(
        "demo", "--corpus-only annot.toml", ("annot.toml: found another file, which was not changed",)
    ),
    "demo: papers to a folder": Wrong("demo", "--corpus-only guidelines", ("guidelines: a folder, expected a file",)),
}
