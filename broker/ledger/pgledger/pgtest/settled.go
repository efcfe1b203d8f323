package pgtest

import "fmt"

// Settle puts n ended proposals of 500 principals into the ledger in schema,
// spread over the 24 hours for which they are kept. They are copies of one that
// ended there: their rows are as long, and only the ledger's own queries meet
// them. Of them 200 count against the daily ceiling.
func (s *Server) Settle(schema, id string, n int) error {
	return s.SQL(fmt.Sprintf(`SET search_path = %[1]s, pg_catalog;
		INSERT INTO proposals (id, principal, account, hash, change_type, twin, minted_at, expires_at, cluster, facts, mac,
			state, since, code, spent, ask_until, send_by, sent_at, outcome, attempts)
		SELECT 'seed' || i, '["jwt","","","' || i %% 500 || '"]', account, md5(i::text), change_type, md5(i::text), at, at + interval '10 minutes', cluster, facts, mac,
			(ARRAY['created', 'declined', 'expired', 'stopped'])[1 + i %% 4], at, code, spent, ask_until, send_by, CASE WHEN i < 200 THEN at END, outcome, attempts
		FROM proposals, generate_series(1, %[3]d) i, LATERAL (SELECT clock_timestamp() - make_interval(secs => i * 86000.0 / %[3]d) AS at) t
		WHERE id = '%[2]s'`, schema, id, n),
		fmt.Sprintf(`VACUUM ANALYZE %s.proposals`, schema),
		`CHECKPOINT`) // else the first to commit pays for it
}
