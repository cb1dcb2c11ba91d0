package sqlite

import "context"

// The queries whose plans the tests check.
var (
	ClaimTask  = claimTask
	SelectTask = selectTask
	ListQuery  = listQuery
)

// Pragma runs a PRAGMA on the writing connection and returns its value.
func (s *Store) Pragma(ctx context.Context, text string) (value string, err error) {
	err = s.writes.do(ctx, func(s *session) error {
		return s.first("PRAGMA "+text, &value)
	})
	return value, err
}
