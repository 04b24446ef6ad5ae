"""Wrong input for the commands of Help."""

from spoiling import replace, write
from wrong import Wrong

WRONG: dict[str, Wrong] = {
    "studio up: a database without a server for all": Wrong(
        "studio up",
        "--domain s.example.org --database postgresql://u:secret@h/d",
        ("--database can only be used with --shared",),
        "planned",
    ),
    "studio up: nobody to have a server": Wrong("studio up", "--domain s.example.org", ("no assessors yet",), "made"),
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
    "demo: papers over another file": Wrong(
        "demo", "--corpus-only annot.toml", ("annot.toml: found another file, which was not changed",)
    ),
    "demo: papers to a folder": Wrong("demo", "--corpus-only guidelines", ("guidelines: a folder, expected a file",)),
}
