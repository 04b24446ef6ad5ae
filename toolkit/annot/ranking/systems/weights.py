"""The weights of encoders: their names on the hub, and the folders that are searched. Nothing is fetched here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from annot.base.errors import InputError, MissingInput
from annot.ranking.systems.training.recipes import RECIPES

Reading = Literal["own", "cls", "pooler", "mean", "document", "context"]
"""Way in which an encoder reads and pools: `own` is that of its sentence-transformers folder; the first token's state
(`cls`), the pooler's output (`pooler`) or the mean of the tokens' states (`mean`) of a sentence; the first token's
state of title, separator and abstract (`document`); for each sentence the mean over its tokens in all of these
(`context`)."""

INSTALL = "`pip install torch`, then `pip install 'annot-collections[neural]'`"


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """An encoder's weights: in `weights/NAME` of the study, or else the hub's own cache under `hub`."""

    name: str
    hub: str | None
    """Name on the hub; None if they were never published."""
    reading: Reading

    @property
    def needs(self) -> str:
        """Description of the weights that a lead has to get."""
        return f"weights {self.hub}" if self.hub else f"weights of your own in weights/{self.name}"

    def find(self, folder: Path) -> Path:
        """The folder that has them. folder: the study's, which is searched first.

        Raises MissingInput with the hub's command that fetches them.
        """
        folder_of_study = folder / self.name
        if (folder_of_study / "config.json").is_file() or (folder_of_study / "modules.json").is_file():
            return folder_of_study
        searched = [str(folder_of_study)]
        if self.hub:
            cached, cache = _cached(self.hub)
            if cached:
                return cached
            searched.append(cache)
        hint = f"put a folder of weights at {folder_of_study}; they were never published"
        if self.hub:
            hint = f"fetch them with `hf download {self.hub} --local-dir {folder_of_study}`"
        if self.name in RECIPES:
            hint += f"; or train them with `annot encoder train {self.name}`"
        raise MissingInput(f"{self.name}: no weights in {' or in '.join(searched)}", hint=hint)


def digest_of(folder: Path) -> str:
    """The SHA-256 of all files of weights and settings, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".safetensors", ".bin", ".pt", ".json", ".txt", ".model") and path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _cached(hub: str) -> tuple[Path | None, str]:
    """Folder of a model in the hub's cache, if it is there, and the folder of the cache."""
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingInput(f"{hub}: the libraries for encoders are not installed", hint=INSTALL) from None
    try:
        return Path(snapshot_download(hub, local_files_only=True)), constants.HF_HUB_CACHE
    except LocalEntryNotFoundError:
        return None, constants.HF_HUB_CACHE
    except HFValidationError:
        raise InputError(f"{hub}: no such folder, and not the name of a model on the hub") from None
