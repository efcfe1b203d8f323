-- One row a proposal. Up to mac it never changes, and mac authenticates it.
CREATE TABLE proposals (
    id          text COLLATE "C" PRIMARY KEY,
    seq         bigint GENERATED ALWAYS AS IDENTITY,
    principal   text COLLATE "C" NOT NULL, -- ["kind","issuer","tenant","subject"]
    account     text COLLATE "C" NOT NULL,
    hash        text COLLATE "C" NOT NULL,
    change_type text COLLATE "C" NOT NULL,
    twin        text COLLATE "C" NOT NULL,
    minted_at   timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    cluster     text COLLATE "C" NOT NULL, -- system identifier/timeline
    facts       text NOT NULL,             -- name, client, price: JSON
    mac         bytea NOT NULL,

    state       text COLLATE "C" NOT NULL CHECK (state IN (
        'pending', 'asking', 'approved', 'sending', 'created', 'rejected', 'not_sent', 'unknown', 'absent',
        'declined', 'cancelled', 'timed_out', 'failed', 'call_cancelled', 'unsupported_by_client',
        'expired', 'withdrawn', 'superseded', 'stopped', 'evicted')),
    since       timestamptz NOT NULL,
    code        text NOT NULL DEFAULT '',
    spent       boolean NOT NULL DEFAULT false,
    ask_until   timestamptz,
    send_by     timestamptz,
    sent_at     timestamptz,               -- set where the create counts against the ceiling
    outcome     bytea,                     -- sealed: answer and result
    payload     bytea,                     -- sealed: spec, brief, ...; dropped at the end
    verdict     bytea,                     -- sealed: a person's last word
    attempts    text[] NOT NULL            -- who made each step
);

-- I12: at most one create of a hash and account is unresolved.
CREATE UNIQUE INDEX proposals_unresolved ON proposals (hash, account) WHERE state IN ('sending', 'unknown');
CREATE INDEX proposals_hash ON proposals (hash, account);
CREATE INDEX proposals_twin ON proposals (twin, account);
CREATE INDEX proposals_principal ON proposals (principal, minted_at DESC, id DESC);
CREATE INDEX proposals_newest ON proposals (minted_at DESC, id DESC);
CREATE INDEX proposals_state ON proposals (state, account);
CREATE INDEX proposals_since ON proposals (since);
CREATE INDEX proposals_open ON proposals (principal, seq) WHERE state IN ('pending', 'asking');
CREATE INDEX proposals_sent ON proposals (sent_at) WHERE sent_at IS NOT NULL;

-- The creates that are about to be sent or whose end nobody has seen. They are
-- claimed before the last dry run, which may itself create.
CREATE TABLE intents (
    account     text COLLATE "C" NOT NULL,
    hash        text COLLATE "C" NOT NULL,
    proposal_id text COLLATE "C" NOT NULL,
    claimed_at  timestamptz NOT NULL,
    send_by     timestamptz NOT NULL,
    attempt     text NOT NULL,
    sealed      bytea NOT NULL,
    PRIMARY KEY (account, hash)
);
CREATE INDEX intents_proposal ON intents (proposal_id);

-- The stop switch: one row, an empty reason while nothing is halted.
CREATE TABLE halt (
    one    boolean PRIMARY KEY DEFAULT true CHECK (one),
    reason text NOT NULL DEFAULT '',
    set_at timestamptz
);
INSERT INTO halt DEFAULT VALUES;

-- Credentials that were refused, by a digest of them.
CREATE TABLE lockouts (
    key    text COLLATE "C" PRIMARY KEY,
    until  timestamptz NOT NULL
);
