"""The papers of CSFCube's release, as records with predicted labels."""

from annot.formats.corpora import Format

CSFCUBE = Format("csfcube", published=True, fits=lambda record: "pred_labels" in record)
