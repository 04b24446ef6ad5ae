BEGIN TRANSACTION;
CREATE TABLE adjudication (
	id INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	server TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	annotation TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	grade INTEGER, 
	cannot_judge TEXT, 
	comment TEXT, 
	judged_at TEXT, 
	lead_time FLOAT, 
	flags JSON NOT NULL, 
	payload JSON NOT NULL, 
	content_sha256 TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	adjudicator TEXT NOT NULL, 
	reason TEXT, 
	ratings TEXT NOT NULL, 
	shown JSON NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT adjudication_query FOREIGN KEY(query_id) REFERENCES "query" (query_id), 
	CONSTRAINT adjudication_adjudicator FOREIGN KEY(adjudicator) REFERENCES assessor (assessor), 
	CONSTRAINT adjudication_line UNIQUE (source, server, query_id, doc_id, adjudicator, annotation, revision), 
	CONSTRAINT adjudication_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)), 
	CONSTRAINT adjudication_revision_from_1 CHECK (revision >= 1)
);
INSERT INTO "adjudication" VALUES(1,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d1','8',1,2,NULL,NULL,NULL,NULL,'[]','{"id": 8}','8440bfb5f68251c7b355bdc492ba0b46153c20ab91bd26bfbc69a4cd27137123','2026-03-02T10:00:00+00:00','e1','the same model','shown','["a2", "a1"]');
CREATE TABLE annot_schema (version INTEGER PRIMARY KEY NOT NULL);
INSERT INTO "annot_schema" VALUES(1);
CREATE TABLE assessor (
	assessor TEXT NOT NULL, 
	account TEXT, 
	adjudicator BOOLEAN NOT NULL, 
	PRIMARY KEY (assessor), 
	CONSTRAINT assessor_account UNIQUE (account), 
	CONSTRAINT assessor_named CHECK (assessor <> '')
);
INSERT INTO "assessor" VALUES('a1','ada@example.org',0);
INSERT INTO "assessor" VALUES('a2','bob@example.org',0);
INSERT INTO "assessor" VALUES('e1',NULL,1);
CREATE TABLE assignment (
	query_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	assessor TEXT NOT NULL, 
	occasion INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (query_id, doc_id, assessor, occasion), 
	CONSTRAINT assignment_query FOREIGN KEY(query_id) REFERENCES "query" (query_id), 
	CONSTRAINT assignment_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor), 
	CONSTRAINT assignment_position UNIQUE (assessor, position), 
	CONSTRAINT assignment_occasion_from_1 CHECK (occasion >= 1), 
	CONSTRAINT assignment_position_from_1 CHECK (position >= 1)
);
INSERT INTO "assignment" VALUES('p1-method','d1','a1',1,1);
INSERT INTO "assignment" VALUES('p1-method','d2','a1',1,2);
INSERT INTO "assignment" VALUES('p1-method','d3','a1',1,3);
INSERT INTO "assignment" VALUES('p1-method','d1','a2',1,1);
INSERT INTO "assignment" VALUES('p1-method','d2','a2',1,2);
INSERT INTO "assignment" VALUES('p1-method','d3','a2',1,3);
INSERT INTO "assignment" VALUES('p1-method','d1','a1',2,4);
CREATE TABLE draw (
	paper_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	method TEXT NOT NULL, 
	rank INTEGER, 
	score FLOAT, 
	turn INTEGER, 
	place INTEGER NOT NULL, 
	PRIMARY KEY (paper_id, doc_id, method), 
	CONSTRAINT draw_pool_entry FOREIGN KEY(paper_id, doc_id) REFERENCES pool_entry (paper_id, doc_id), 
	CONSTRAINT draw_rank CHECK (rank IS NULL OR rank >= 1), 
	CONSTRAINT draw_place UNIQUE (paper_id, doc_id, place), 
	CONSTRAINT draw_place_from_0 CHECK (place >= 0), 
	CONSTRAINT draw_turn CHECK (turn IS NULL OR (place = 0 AND turn >= 1))
);
INSERT INTO "draw" VALUES('p1','d1','abs_tfidf',1,1.0,1,0);
INSERT INTO "draw" VALUES('p1','d2','abs_tfidf',2,0.5,2,0);
INSERT INTO "draw" VALUES('p1','d3','abs_tfidf',3,3.33333333333333314829e-01,3,0);
CREATE TABLE facet_labels (
	paper_id TEXT NOT NULL, 
	labels TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	PRIMARY KEY (paper_id), 
	CONSTRAINT facet_labels_origin CHECK (origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%')
);
INSERT INTO "facet_labels" VALUES('p1','method,result','carried');
CREATE TABLE imported (
	what TEXT NOT NULL, 
	source_sha256 TEXT NOT NULL, 
	facts JSON NOT NULL, 
	PRIMARY KEY (what, source_sha256)
);
INSERT INTO "imported" VALUES('corpus','cdef','{"read": 3, "kept": 3}');
CREATE TABLE judgement (
	id INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	server TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	annotation TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	grade INTEGER, 
	cannot_judge TEXT, 
	comment TEXT, 
	judged_at TEXT, 
	lead_time FLOAT, 
	flags JSON NOT NULL, 
	payload JSON NOT NULL, 
	content_sha256 TEXT NOT NULL, 
	recorded_at TEXT NOT NULL, 
	assessor TEXT NOT NULL, 
	occasion INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT judgement_query FOREIGN KEY(query_id) REFERENCES "query" (query_id), 
	CONSTRAINT judgement_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor), 
	CONSTRAINT judgement_line UNIQUE (source, server, query_id, doc_id, assessor, occasion, annotation, revision), 
	CONSTRAINT judgement_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)), 
	CONSTRAINT judgement_occasion_from_1 CHECK (occasion >= 1), 
	CONSTRAINT judgement_revision_from_1 CHECK (revision >= 1)
);
INSERT INTO "judgement" VALUES(1,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d1','1',1,3,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 1, "result": [{"value": {"choices": ["3"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','a4908c37c586f59dacd030e35d0522dce29003e923cfdc35a8e7d069f6b1564c','2026-03-01T10:00:00+00:00','a1',1);
INSERT INTO "judgement" VALUES(2,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d1','2',1,2,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 2, "result": [{"value": {"choices": ["2"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','a9e45ef7092517072eb0456b2df80174d9bcd6a6e759e0df5801b591a909e1ff','2026-03-01T10:00:00+00:00','a1',2);
INSERT INTO "judgement" VALUES(3,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d2','3',1,0,NULL,'far from it','2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 3, "result": [{"value": {"choices": ["0"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','9ec7f7c9f9e395e7d8f0fd4c0bac572906a37cf575270e895144580ad2c51064','2026-03-01T10:00:00+00:00','a1',1);
INSERT INTO "judgement" VALUES(4,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d3','4',1,NULL,'outside my field',NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 4, "result": [{"value": {"choices": ["None"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','ef73611558616370630a1f90ef2d2b96bbdcd53839f12007f4a6cea32a04389a','2026-03-01T10:00:00+00:00','a1',1);
INSERT INTO "judgement" VALUES(5,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d1','5',1,1,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 5, "result": [{"value": {"choices": ["1"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','4c130b3a5524a438a60c19280918f92814be81a4732a9ad3c1dc12d31d1b520b','2026-03-01T10:00:00+00:00','a2',1);
INSERT INTO "judgement" VALUES(6,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d2','6',1,0,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 6, "result": [{"value": {"choices": ["0"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','c262c3b185fc1aded5919cfcf2b4199c111ae979bc91d274e84857bc378c8adb','2026-03-01T10:00:00+00:00','a2',1);
INSERT INTO "judgement" VALUES(7,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d3','7',1,1,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'["the account 9 answered, expected 2"]','{"id": 7, "result": [{"value": {"choices": ["1"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','eece9bcc8bff7cb04016246917bbb6e5f79234cfad00b6dbdfba4917c8d8c9d4','2026-03-01T10:00:00+00:00','a2',1);
INSERT INTO "judgement" VALUES(8,'label-studio','1 of 2026-02-01T00:00:00+00:00','p1-method','d2','6',2,1,NULL,NULL,'2026-03-01T10:00:00+00:00',4.5,'[]','{"id": 6, "result": [{"value": {"choices": ["1"]}}], "draft": null, "said": "na\u00efve \ud835\udefc \u2028"}','a62adcceaf2fdecf4a2cd3afbc16c8cd6ba1fd0d4a9ac1c05ad5cd1a915ecb59','2026-03-02T10:00:00+00:00','a2',1);
CREATE TABLE "plan" (
	id INTEGER NOT NULL, 
	sha256 TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT plan_one CHECK (id = 1)
);
INSERT INTO "plan" VALUES(1,'4567',13,'2026-03-01T10:00:00+00:00');
CREATE TABLE pool (
	paper_id TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	per_method INTEGER, 
	ranking_depth INTEGER, 
	seed BIGINT, 
	methods JSON NOT NULL, 
	without JSON NOT NULL, 
	dry JSON NOT NULL, 
	cited_outside INTEGER, 
	rankings_sha256 TEXT NOT NULL, 
	PRIMARY KEY (paper_id), 
	CONSTRAINT pool_per_method CHECK (per_method IS NULL OR per_method >= 1), 
	CONSTRAINT pool_ranking_depth CHECK (ranking_depth IS NULL OR ranking_depth >= 1), 
	CONSTRAINT pool_cited_outside CHECK (cited_outside IS NULL OR cited_outside >= 0)
);
INSERT INTO "pool" VALUES('p1','round-robin',3,500,13,'["abs_tfidf"]','[]','[]',NULL,'0123');
CREATE TABLE pool_entry (
	paper_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (paper_id, doc_id), 
	CONSTRAINT pool_entry_pool FOREIGN KEY(paper_id) REFERENCES pool (paper_id), 
	CONSTRAINT pool_entry_position UNIQUE (paper_id, position), 
	CONSTRAINT pool_entry_position_from_1 CHECK (position >= 1)
);
INSERT INTO "pool_entry" VALUES('p1','d1',1);
INSERT INTO "pool_entry" VALUES('p1','d2',2);
INSERT INTO "pool_entry" VALUES('p1','d3',3);
CREATE TABLE project (
	id INTEGER NOT NULL, 
	round TEXT NOT NULL, 
	assessor TEXT NOT NULL, 
	server TEXT NOT NULL, 
	url TEXT NOT NULL, 
	version TEXT NOT NULL, 
	account_id BIGINT, 
	remote_id BIGINT, 
	PRIMARY KEY (id), 
	CONSTRAINT project_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor), 
	CONSTRAINT project_round_assessor_server UNIQUE (round, assessor, server), 
	CONSTRAINT project_remote_id UNIQUE (server, remote_id), 
	CONSTRAINT project_round CHECK (round IN ('judge', 'adjudicate'))
);
INSERT INTO "project" VALUES(1,'judge','a1','1 of 2026-02-01T00:00:00+00:00','https://ls.example.org','1.23.2',1,1);
INSERT INTO "project" VALUES(2,'judge','a2','1 of 2026-02-01T00:00:00+00:00','https://ls.example.org','1.23.2',2,2);
CREATE TABLE "query" (
	query_id TEXT NOT NULL, 
	paper_id TEXT NOT NULL, 
	facet TEXT NOT NULL, 
	sentences JSON NOT NULL, 
	PRIMARY KEY (query_id), 
	CONSTRAINT query_paper_facet UNIQUE (paper_id, facet)
);
INSERT INTO "query" VALUES('p1-method','p1','method','[0]');
INSERT INTO "query" VALUES('p1-result','p1','result','[1]');
CREATE TABLE run (
	tag TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	facts JSON NOT NULL, 
	sha256 TEXT NOT NULL, 
	PRIMARY KEY (tag)
);
INSERT INTO "run" VALUES('fabs_bm25','baseline','{"k1": 1.2}','89ab');
CREATE TABLE split (
	name TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	fold TEXT NOT NULL, 
	PRIMARY KEY (name, query_id, fold), 
	CONSTRAINT split_query FOREIGN KEY(query_id) REFERENCES "query" (query_id)
);
INSERT INTO "split" VALUES('folds','p1-method','test');
CREATE TABLE task (
	project_id INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	occasion INTEGER NOT NULL, 
	remote_id BIGINT NOT NULL, 
	PRIMARY KEY (project_id, query_id, doc_id, occasion), 
	CONSTRAINT task_project FOREIGN KEY(project_id) REFERENCES project (id), 
	CONSTRAINT task_query FOREIGN KEY(query_id) REFERENCES "query" (query_id), 
	CONSTRAINT task_remote_id UNIQUE (project_id, remote_id)
);
INSERT INTO "task" VALUES(1,'p1-method','d1',1,10);
INSERT INTO "task" VALUES(1,'p1-method','d2',1,11);
INSERT INTO "task" VALUES(1,'p1-method','d3',1,12);
INSERT INTO "task" VALUES(1,'p1-method','d1',2,13);
INSERT INTO "task" VALUES(2,'p1-method','d1',1,20);
INSERT INTO "task" VALUES(2,'p1-method','d2',1,21);
INSERT INTO "task" VALUES(2,'p1-method','d3',1,22);
CREATE INDEX judgement_query_doc ON judgement (query_id, doc_id);
CREATE INDEX adjudication_query_doc ON adjudication (query_id, doc_id);
CREATE TRIGGER judgement_no_update BEFORE UPDATE ON judgement
            BEGIN SELECT RAISE(ABORT, 'judgement is append-only: UPDATE refused'); END;
CREATE TRIGGER judgement_no_delete BEFORE DELETE ON judgement
            BEGIN SELECT RAISE(ABORT, 'judgement is append-only: DELETE refused'); END;
CREATE TRIGGER adjudication_no_update BEFORE UPDATE ON adjudication
            BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: UPDATE refused'); END;
CREATE TRIGGER adjudication_no_delete BEFORE DELETE ON adjudication
            BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: DELETE refused'); END;
CREATE TRIGGER judgement_no_replace BEFORE INSERT ON judgement
            WHEN EXISTS (
                SELECT 1 FROM judgement AS old WHERE old.id = NEW.id OR (
                    old.source = NEW.source AND old.server = NEW.server AND old.query_id = NEW.query_id AND old.doc_id = NEW.doc_id AND old.assessor = NEW.assessor AND old.occasion = NEW.occasion AND old.annotation = NEW.annotation AND old.revision = NEW.revision
                )
            )
            BEGIN SELECT RAISE(ABORT, 'judgement is append-only: a row with this key is there'); END;
CREATE TRIGGER adjudication_no_replace BEFORE INSERT ON adjudication
            WHEN EXISTS (
                SELECT 1 FROM adjudication AS old WHERE old.id = NEW.id OR (
                    old.source = NEW.source AND old.server = NEW.server AND old.query_id = NEW.query_id AND old.doc_id = NEW.doc_id AND old.adjudicator = NEW.adjudicator AND old.annotation = NEW.annotation AND old.revision = NEW.revision
                )
            )
            BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: a row with this key is there'); END;
COMMIT;
