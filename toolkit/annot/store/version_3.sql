-- Versions of the corpus, documents that were withdrawn from it, and the version that a draw was made from.
CREATE TABLE corpus_version (
    version VARCHAR NOT NULL, number INTEGER NOT NULL, after VARCHAR NOT NULL, reason VARCHAR, made_by VARCHAR,
    made_at VARCHAR NOT NULL, qrels VARCHAR, PRIMARY KEY (version),
    CONSTRAINT corpus_version_number UNIQUE (number),
    CONSTRAINT corpus_version_number_from_1 CHECK (number >= 1)
);

CREATE TABLE withdrawn_document (
    doc_id VARCHAR NOT NULL, version VARCHAR NOT NULL, reason VARCHAR NOT NULL, made_by VARCHAR,
    withdrawn_at VARCHAR NOT NULL, PRIMARY KEY (doc_id),
    CONSTRAINT withdrawn_document_corpus_version FOREIGN KEY(version) REFERENCES corpus_version (version),
    CONSTRAINT withdrawn_document_reason CHECK (reason <> '')
);

ALTER TABLE pool ADD COLUMN corpus VARCHAR;
ALTER TABLE pool_addition ADD COLUMN corpus VARCHAR;
ALTER TABLE draw ADD COLUMN new_rank INTEGER;
