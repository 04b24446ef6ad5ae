CREATE TABLE assessor (
    assessor VARCHAR NOT NULL,
    account VARCHAR,
    adjudicator BOOLEAN NOT NULL,
    left_on VARCHAR,
    share FLOAT,
    language VARCHAR,
    PRIMARY KEY (assessor),
    CONSTRAINT assessor_account UNIQUE (account),
    CONSTRAINT assessor_named CHECK (assessor <> '')
);

CREATE TABLE chain (
    name VARCHAR NOT NULL,
    length INTEGER NOT NULL,
    last_sha256 VARCHAR NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE facet_labels (
    paper_id VARCHAR NOT NULL,
    labels VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    corrected_at VARCHAR,
    PRIMARY KEY (paper_id),
    CONSTRAINT facet_labels_origin CHECK (origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%')
);

CREATE TABLE imported (
    what VARCHAR NOT NULL,
    source_sha256 VARCHAR NOT NULL,
    facts JSON NOT NULL,
    PRIMARY KEY (what, source_sha256)
);

CREATE TABLE opinion (
    name VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    settings JSON NOT NULL,
    prompts JSON NOT NULL,
    examples JSON NOT NULL,
    since VARCHAR NOT NULL,
    early JSON NOT NULL,
    PRIMARY KEY (name),
    CONSTRAINT opinion_named CHECK (name <> '')
);

CREATE TABLE plan (
    id INTEGER NOT NULL,
    sha256 VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    created VARCHAR NOT NULL,
    per_pair INTEGER,
    vacant JSON NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT plan_one CHECK (id = 1)
);

CREATE TABLE pool (
    topic_id VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    per_method INTEGER,
    ranking_depth INTEGER,
    seed BIGINT,
    methods JSON NOT NULL,
    without JSON NOT NULL,
    dry JSON NOT NULL,
    cited_outside INTEGER,
    rankings_sha256 VARCHAR NOT NULL,
    PRIMARY KEY (topic_id),
    CONSTRAINT pool_per_method CHECK (per_method IS NULL OR per_method >= 1),
    CONSTRAINT pool_ranking_depth CHECK (ranking_depth IS NULL OR ranking_depth >= 1),
    CONSTRAINT pool_cited_outside CHECK (cited_outside IS NULL OR cited_outside >= 0)
);

CREATE TABLE query (
    query_id VARCHAR NOT NULL,
    topic_id VARCHAR NOT NULL,
    facet VARCHAR NOT NULL,
    sentences JSON NOT NULL,
    paper_type VARCHAR,
    PRIMARY KEY (query_id),
    CONSTRAINT query_topic_facet UNIQUE (topic_id, facet)
);

CREATE TABLE run (
    tag VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    facts JSON NOT NULL,
    sha256 VARCHAR NOT NULL,
    PRIMARY KEY (tag)
);

CREATE TABLE sample (
    id INTEGER NOT NULL,
    share FLOAT NOT NULL,
    across VARCHAR NOT NULL,
    floor FLOAT NOT NULL,
    unranked FLOAT NOT NULL,
    seed BIGINT NOT NULL,
    created VARCHAR NOT NULL,
    cheap_label VARCHAR,
    PRIMARY KEY (id),
    CONSTRAINT sample_one CHECK (id = 1),
    CONSTRAINT sample_share CHECK (share > 0 AND share <= 1)
);

CREATE TABLE shown_content (
    sha256 VARCHAR NOT NULL,
    body VARCHAR NOT NULL,
    PRIMARY KEY (sha256)
);

CREATE TABLE task_secret (
    id INTEGER NOT NULL,
    secret VARCHAR NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT task_secret_one CHECK (id = 1)
);

CREATE TABLE topic (
    topic_id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    description VARCHAR,
    narrative VARCHAR,
    fields JSON NOT NULL,
    PRIMARY KEY (topic_id),
    CONSTRAINT topic_title CHECK (title <> '')
);

CREATE TABLE trial (
    name VARCHAR NOT NULL,
    facts JSON NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE accepted (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    accepted_at VARCHAR NOT NULL,
    PRIMARY KEY (query_id, doc_id),
    CONSTRAINT accepted_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT accepted_why CHECK (why <> '')
);

CREATE TABLE adjudication (
    id INTEGER {NUMBERED},
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    adjudicator VARCHAR NOT NULL,
    grade INTEGER,
    ratings VARCHAR NOT NULL,
    shown JSON NOT NULL,
    revision INTEGER NOT NULL,
    cannot_judge VARCHAR,
    reason VARCHAR,
    comment VARCHAR,
    judged_at VARCHAR,
    lead_time FLOAT,
    flags JSON NOT NULL,
    source VARCHAR NOT NULL,
    server VARCHAR NOT NULL,
    annotation VARCHAR NOT NULL,
    recorded_at VARCHAR NOT NULL,
    changed_at VARCHAR,
    ruling VARCHAR,
    shown_sha256 VARCHAR,
    account BIGINT,
    payload JSON NOT NULL,
    content_sha256 {BYTES} NOT NULL,
    chain_sha256 {BYTES} NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT adjudication_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT adjudication_adjudicator FOREIGN KEY(adjudicator) REFERENCES assessor (assessor),
    CONSTRAINT adjudication_line UNIQUE (source, server, query_id, doc_id, adjudicator, annotation, revision),
    CONSTRAINT adjudication_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)),
    CONSTRAINT adjudication_revision_from_1 CHECK (revision >= 1)
);

CREATE INDEX adjudication_query_doc ON adjudication (query_id, doc_id);

CREATE TABLE assignment (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    occasion INTEGER NOT NULL,
    PRIMARY KEY (query_id, doc_id, assessor, occasion),
    CONSTRAINT assignment_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT assignment_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT assignment_position UNIQUE (assessor, position),
    CONSTRAINT assignment_occasion_from_1 CHECK (occasion >= 1),
    CONSTRAINT assignment_position_from_1 CHECK (position >= 1)
);

CREATE TABLE gold (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    grade INTEGER NOT NULL,
    why VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (query_id, doc_id),
    CONSTRAINT gold_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT gold_position UNIQUE (position),
    CONSTRAINT gold_grade CHECK (grade >= 0 AND grade <= 9),
    CONSTRAINT gold_position_from_1 CHECK (position >= 1)
);

CREATE TABLE judgement (
    id INTEGER {NUMBERED},
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    grade INTEGER,
    revision INTEGER NOT NULL,
    cannot_judge VARCHAR,
    comment VARCHAR,
    judged_at VARCHAR,
    lead_time FLOAT,
    flags JSON NOT NULL,
    occasion INTEGER NOT NULL,
    source VARCHAR NOT NULL,
    server VARCHAR NOT NULL,
    annotation VARCHAR NOT NULL,
    recorded_at VARCHAR NOT NULL,
    changed_at VARCHAR,
    ruling VARCHAR,
    shown_sha256 VARCHAR,
    account BIGINT,
    payload JSON NOT NULL,
    content_sha256 {BYTES} NOT NULL,
    chain_sha256 {BYTES} NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT judgement_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT judgement_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT judgement_line UNIQUE (source, server, query_id, doc_id, assessor, occasion, annotation, revision),
    CONSTRAINT judgement_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)),
    CONSTRAINT judgement_occasion_from_1 CHECK (occasion >= 1),
    CONSTRAINT judgement_revision_from_1 CHECK (revision >= 1)
);

CREATE INDEX judgement_query_doc ON judgement (query_id, doc_id);

CREATE TABLE opinion_call (
    name VARCHAR NOT NULL,
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    repeat INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    state VARCHAR NOT NULL,
    prompt_sha256 VARCHAR NOT NULL,
    sent_at VARCHAR NOT NULL,
    cost FLOAT NOT NULL,
    estimated BOOLEAN NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    seconds FLOAT,
    status INTEGER,
    served VARCHAR,
    version VARCHAR,
    answer VARCHAR,
    grade INTEGER,
    reason VARCHAR,
    shown_sha256 VARCHAR,
    PRIMARY KEY (name, query_id, doc_id, repeat, attempt),
    CONSTRAINT opinion_call_opinion FOREIGN KEY(name) REFERENCES opinion (name),
    CONSTRAINT opinion_call_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT opinion_call_repeat_from_1 CHECK (repeat >= 1),
    CONSTRAINT opinion_call_attempt_from_1 CHECK (attempt >= 1),
    CONSTRAINT opinion_call_state CHECK (state IN ('sent', 'read', 'cannot_judge', 'unreadable', 'failed')),
    CONSTRAINT opinion_call_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)),
    CONSTRAINT opinion_call_grade_if_read CHECK ((state = 'read') = (grade IS NOT NULL)),
    CONSTRAINT opinion_call_cost CHECK (cost >= 0)
);

CREATE TABLE pool_addition (
    topic_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    method VARCHAR NOT NULL,
    depth INTEGER,
    documents JSON NOT NULL,
    reason VARCHAR,
    made_by VARCHAR,
    made_at VARCHAR,
    PRIMARY KEY (topic_id, version),
    CONSTRAINT pool_addition_pool FOREIGN KEY(topic_id) REFERENCES pool (topic_id),
    CONSTRAINT pool_addition_version_from_2 CHECK (version >= 2),
    CONSTRAINT pool_addition_depth CHECK (depth IS NULL OR depth >= 1),
    CONSTRAINT pool_addition_depth_of_ranking CHECK ((method = 'manual') = (depth IS NULL)),
    CONSTRAINT pool_addition_reason CHECK (method <> 'manual' OR COALESCE(reason, '') <> '')
);

CREATE TABLE pool_entry (
    topic_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (topic_id, doc_id),
    CONSTRAINT pool_entry_pool FOREIGN KEY(topic_id) REFERENCES pool (topic_id),
    CONSTRAINT pool_entry_position UNIQUE (topic_id, position),
    CONSTRAINT pool_entry_position_from_1 CHECK (position >= 1)
);

CREATE TABLE project (
    id INTEGER {NUMBERED},
    round VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    server VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    account_id BIGINT,
    remote_id BIGINT,
    created VARCHAR,
    sent_on VARCHAR,
    shows JSON,
    set_back JSON NOT NULL,
    language VARCHAR,
    PRIMARY KEY (id),
    CONSTRAINT project_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT project_round_assessor_server UNIQUE (round, assessor, server),
    CONSTRAINT project_remote_id UNIQUE (server, remote_id)
);

CREATE TABLE returned (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    occasion INTEGER NOT NULL,
    why VARCHAR NOT NULL,
    returned_at VARCHAR NOT NULL,
    withdrawn_at VARCHAR,
    contested BOOLEAN NOT NULL,
    PRIMARY KEY (query_id, doc_id, assessor, occasion),
    CONSTRAINT returned_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT returned_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT returned_occasion_from_2 CHECK (occasion >= 2),
    CONSTRAINT returned_why CHECK (why <> '')
);

CREATE TABLE sampled_pair (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    rank INTEGER,
    batch INTEGER NOT NULL,
    probability FLOAT NOT NULL,
    drawn BOOLEAN NOT NULL,
    ranks JSON NOT NULL,
    PRIMARY KEY (query_id, doc_id),
    CONSTRAINT sampled_pair_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT sampled_pair_rank_from_1 CHECK (rank >= 1),
    CONSTRAINT sampled_pair_batch_from_0 CHECK (batch >= 0),
    CONSTRAINT sampled_pair_probability CHECK (probability > 0 AND probability <= 1)
);

CREATE TABLE shown_opinions (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    adjudicator VARCHAR NOT NULL,
    sent_at VARCHAR NOT NULL,
    opinions JSON NOT NULL,
    PRIMARY KEY (query_id, doc_id, adjudicator, sent_at),
    CONSTRAINT shown_opinions_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT shown_opinions_adjudicator FOREIGN KEY(adjudicator) REFERENCES assessor (assessor)
);

CREATE TABLE shown_version (
    part VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    since VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    why VARCHAR,
    program VARCHAR,
    PRIMARY KEY (part, subject, since),
    CONSTRAINT shown_version_shown_content FOREIGN KEY(sha256) REFERENCES shown_content (sha256),
    CONSTRAINT shown_version_part CHECK (part IN ('scale', 'facet', 'guidelines', 'screen', 'words', 'topic', 'text')),
    CONSTRAINT shown_version_why CHECK (why IS NULL OR why <> '')
);

CREATE TABLE split (
    name VARCHAR NOT NULL,
    query_id VARCHAR NOT NULL,
    fold VARCHAR NOT NULL,
    PRIMARY KEY (name, query_id, fold),
    CONSTRAINT split_query FOREIGN KEY(query_id) REFERENCES query (query_id)
);

CREATE TABLE text_ruling (
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    text_id VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    ruling VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    ruled_at VARCHAR NOT NULL,
    PRIMARY KEY (query_id, doc_id, text_id, ruled_at),
    CONSTRAINT text_ruling_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT text_ruling_ruling CHECK (ruling IN ('stays', 'again')),
    CONSTRAINT text_ruling_why CHECK (why <> '')
);

CREATE TABLE told (
    assessor VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    how VARCHAR NOT NULL,
    at VARCHAR NOT NULL,
    published BOOLEAN NOT NULL,
    words VARCHAR NOT NULL,
    PRIMARY KEY (assessor, kind, how, at),
    CONSTRAINT told_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT told_kind CHECK (kind IN ('comments', 'reasons')),
    CONSTRAINT told_how CHECK (how IN ('letter', 'screen', 'consent')),
    CONSTRAINT told_words CHECK (how <> 'consent' OR words <> '')
);

CREATE TABLE trial_assignment (
    round VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (round, assessor, query_id, doc_id),
    CONSTRAINT trial_assignment_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT trial_assignment_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT trial_assignment_position UNIQUE (round, assessor, position),
    CONSTRAINT trial_assignment_position_from_1 CHECK (position >= 1)
);

CREATE TABLE trial_judgement (
    id INTEGER {NUMBERED},
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    assessor VARCHAR NOT NULL,
    grade INTEGER,
    revision INTEGER NOT NULL,
    cannot_judge VARCHAR,
    comment VARCHAR,
    judged_at VARCHAR,
    lead_time FLOAT,
    flags JSON NOT NULL,
    occasion INTEGER NOT NULL,
    source VARCHAR NOT NULL,
    server VARCHAR NOT NULL,
    annotation VARCHAR NOT NULL,
    recorded_at VARCHAR NOT NULL,
    changed_at VARCHAR,
    ruling VARCHAR,
    shown_sha256 VARCHAR,
    account BIGINT,
    payload JSON NOT NULL,
    content_sha256 {BYTES} NOT NULL,
    chain_sha256 {BYTES} NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT trial_judgement_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT trial_judgement_assessor FOREIGN KEY(assessor) REFERENCES assessor (assessor),
    CONSTRAINT trial_judgement_line UNIQUE (source, server, query_id, doc_id, assessor, occasion, annotation, revision),
    CONSTRAINT trial_judgement_grade CHECK (grade IS NULL OR (grade >= 0 AND grade <= 9)),
    CONSTRAINT trial_judgement_occasion_from_1 CHECK (occasion >= 1),
    CONSTRAINT trial_judgement_revision_from_1 CHECK (revision >= 1)
);

CREATE INDEX trial_judgement_query_doc ON trial_judgement (query_id, doc_id);

CREATE TABLE draw (
    topic_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    rank INTEGER,
    score FLOAT,
    turn INTEGER,
    place INTEGER NOT NULL,
    PRIMARY KEY (topic_id, doc_id, method),
    CONSTRAINT draw_pool_entry FOREIGN KEY(topic_id, doc_id) REFERENCES pool_entry (topic_id, doc_id),
    CONSTRAINT draw_rank CHECK (rank IS NULL OR rank >= 1),
    CONSTRAINT draw_place UNIQUE (topic_id, doc_id, place),
    CONSTRAINT draw_place_from_0 CHECK (place >= 0),
    CONSTRAINT draw_turn CHECK (turn IS NULL OR (place = 0 AND turn >= 1))
);

CREATE TABLE task (
    project_id INTEGER NOT NULL,
    query_id VARCHAR NOT NULL,
    doc_id VARCHAR NOT NULL,
    occasion INTEGER NOT NULL,
    remote_id BIGINT NOT NULL,
    shown JSON NOT NULL,
    PRIMARY KEY (project_id, query_id, doc_id, occasion),
    CONSTRAINT task_project FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT task_query FOREIGN KEY(query_id) REFERENCES query (query_id),
    CONSTRAINT task_remote_id UNIQUE (project_id, remote_id)
);
