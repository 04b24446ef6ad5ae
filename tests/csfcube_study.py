"""CSFCube's release as a study: imported once for all tests, which copy it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annot.steps.setup import init
from annot.study.workspace import Workspace
from annot_csfcube.importing import import_release
from study_stages import Recipe, copied


@dataclass(frozen=True)
class Imported(Recipe):
    """The whole release; the import has set the policy for missing judgements."""

    release: str = ""
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def made(self, folder: Path) -> None:
        init(folder, name="csfcube", dry_run=False)
        import_release(Workspace.open(folder), Path(self.release), dry_run=False)


def csfcube_study(shared: Path, folder: Path) -> Workspace:
    """The study in `folder`, which must not be there yet. shared: the folder of real data."""
    return copied(Imported(release=str(shared / "csfcube")), "made", folder)
