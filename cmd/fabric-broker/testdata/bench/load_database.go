package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is what one round trip and one synced change cost here. A confirm makes
// about 19 of the first, of which 6 wait for a sync.
type database struct {
	conn           *pgx.Conn
	trips, commits samples
}

func (l *load) database() (*database, error) {
	if err := l.pg.SQL("CREATE TABLE public.beside (n int); INSERT INTO public.beside VALUES (0)"); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(context.Background(), l.pg.DSN("public"))
	return &database{conn: conn, trips: samples{}, commits: samples{}}, err
}

func (d *database) sample() error {
	for _, c := range []struct {
		sql string
		in  samples
	}{{"SELECT n FROM beside", d.trips}, {"UPDATE beside SET n = n + 1", d.commits}} {
		began := time.Now()
		if _, err := d.conn.Exec(context.Background(), c.sql); err != nil {
			return err
		}
		c.in.took("", began)
	}
	return nil
}
