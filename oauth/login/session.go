package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const holdOff = 10 * time.Second // after a renewal that could not be made

// stored asks the store for the login, once.
func (a *Authorizer) stored(ctx context.Context) (*record, error) {
	a.mu.Lock()
	login, loaded := a.login, a.loaded
	a.mu.Unlock()
	if loaded {
		return login, nil
	}
	login, err := a.load(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		a.login, a.loaded = login, true
	}
	return a.login, nil
}

// load reads the login in the store, nil if there is none that can be used.
func (a *Authorizer) load(ctx context.Context) (*record, error) {
	data, err := a.store.Load(ctx, a.loginKey())
	if err != nil || data == nil {
		return nil, err
	}
	login, err := parseRecord(data)
	if err != nil {
		a.log.WarnContext(ctx, "a stored login is not used", slog.String("server", a.name), slog.String("error", err.Error()))
		return nil, nil
	}
	return login, nil
}

// current returns the login to send, nil if there is none that can be sent.
func (a *Authorizer) current(ctx context.Context) (*record, error) {
	a.mu.Lock()
	seen, now := a.login, time.Now()
	due := !a.loaded || a.dueLocked(now)
	a.mu.Unlock()
	if due {
		settled := func() bool { return a.loaded && (a.login != seen || !a.dueLocked(now)) }
		if err := a.together(ctx, renewing, settled, func() error { return a.renew(ctx) }); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.login.usable(time.Now()) {
		return nil, nil
	}
	return a.login, nil
}

func (a *Authorizer) dueLocked(now time.Time) bool {
	return a.login.due(now) && !now.Before(a.hold)
}

// renew makes the login fit to be sent. A refused refresh token is dropped: the
// next refusal of the server then leads to a new login.
func (a *Authorizer) renew(ctx context.Context) error {
	login, err := a.stored(ctx)
	if err != nil {
		return err
	}
	if !login.due(time.Now()) {
		return nil
	}
	err = a.refresh(ctx, login)
	switch {
	case err == nil, isRefusal(err):
		return nil
	case login.usable(time.Now()):
		a.log.WarnContext(ctx, "a login could not be renewed yet", slog.String("server", a.name), slog.String("error", err.Error()))
		a.mu.Lock()
		a.hold = time.Now().Add(holdOff)
		a.mu.Unlock()
		return nil
	default:
		return err
	}
}

// refresh replaces the login by means of its refresh token, which goes to the
// issuer that gave it and to no other. Another process may have done so already.
func (a *Authorizer) refresh(ctx context.Context, old *record) error {
	var next *record
	var refused error
	err := a.store.Update(ctx, a.loginKey(), func(data []byte) ([]byte, error) {
		from := old
		if data != nil {
			if stored, err := parseRecord(data); err == nil && stored.Issuer == old.Issuer && stored.Resource == old.Resource {
				from = stored
			}
		}
		if from.Access != old.Access && from.usable(time.Now()) && !from.due(time.Now()) {
			next = from
			return data, nil
		}
		renewed, err := a.exchange(ctx, from)
		if err != nil && !isRefusal(err) {
			return nil, err
		}
		if next = renewed; err != nil {
			next, refused = from.withoutRefresh(), err
		}
		return next.marshal()
	})
	if next == nil {
		return err
	}
	if err != nil {
		a.log.WarnContext(ctx, "a renewed login could not be stored", slog.String("server", a.name), slog.String("error", err.Error()))
	}
	if refused != nil {
		a.log.WarnContext(ctx, "a login cannot be renewed any more", slog.String("server", a.name), slog.String("error", refused.Error()))
	}
	a.set(next)
	return refused
}

// exchange sends a refresh token.
func (a *Authorizer) exchange(ctx context.Context, old *record) (*record, error) {
	const op = "renew login"
	client := a.grant.identity(old)
	if client == nil || old.Refresh == "" {
		return nil, &ServerError{Op: op, Code: "invalid_client", Description: "the client that the refresh token belongs to is no longer known"}
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}, "resource": {old.Resource}}
	answer, err := a.token(ctx, &tokenRequest{op, old.Endpoint, old.Issuer, client, form, old.proof})
	if err != nil {
		return nil, err
	}
	next := *old
	next.renewed = true
	if err := next.fill(answer, time.Now()); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return &next, nil
}

// isRefusal tells an authorization server's final no from all that may pass.
func isRefusal(err error) bool {
	var e *ServerError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusUnauthorized:
		return e.Code != "temporarily_unavailable" && e.Code != "server_error"
	default:
		return e.Code == "invalid_grant" || e.Code == "invalid_client" || e.Code == "unauthorized_client"
	}
}

// enter gets past a refusal: by a login that another process has made meanwhile,
// by the refresh token if the server still trusts the same issuer, or else by a
// new login.
func (a *Authorizer) enter(ctx context.Context, c *challenge) error {
	old, err := a.stored(ctx)
	if err != nil {
		return err
	}
	if other, err := a.load(ctx); err == nil && other.usable(time.Now()) && (old == nil || other.Access != old.Access) {
		a.set(other)
		return nil
	}
	prefer, _ := a.grant.credentials()
	if prefer == "" && old != nil {
		prefer = old.Issuer
	}
	s, err := a.discover(ctx, c, prefer)
	if err == nil {
		err = a.choose(ctx, s)
	}
	if err != nil {
		return err
	}
	if old != nil && (old.Issuer != s.Issuer || old.Resource != s.resource) {
		a.log.InfoContext(ctx, "the server trusts another authorization server now", slog.String("server", a.name), slog.String("issuer", s.Issuer))
		old = nil
	}
	bound := a.bound(c, s)
	if c.status == http.StatusUnauthorized && old != nil && old.Refresh != "" && old.Bound == bound && !(old.renewed && old.young(time.Now())) {
		if err := a.refresh(ctx, old); !isRefusal(err) {
			return err
		}
	}
	scopes, err := a.scopes(c, s, old)
	if err != nil {
		return err
	}
	return a.obtain(ctx, &trip{Authorizer: a, site: s, scopes: scopes, why: c}, bound)
}

// obtain makes a new login and stores it.
func (a *Authorizer) obtain(ctx context.Context, t *trip, bound bool) error {
	s := t.site
	next := &record{Issuer: s.Issuer, Resource: s.resource, Endpoint: s.TokenEndpoint, Bound: bound, Asked: t.scopes, Granted: t.scopes}
	if bound {
		if algs := s.DPoPSigningAlgValuesSupported; len(algs) > 0 && !slices.Contains(algs, "ES256") {
			return fmt.Errorf("log in: %w: it takes no proofs signed with ES256", ErrUnfit)
		}
		key, err := newProofKey()
		if err != nil {
			return err
		}
		if next.Key, err = key.marshal(); err != nil {
			return fmt.Errorf("keep the key for proofs: %w", err)
		}
		next.proof, t.key = key, key
	}
	a.mu.Lock()
	a.issuer = s.Issuer
	a.mu.Unlock()
	answer, client, err := a.grant.obtain(ctx, t)
	t.arrive(err)
	if err != nil {
		return err
	}
	next.As = clientRecord{ID: client.ID, Method: client.Method}
	if client.own {
		next.As.Secret = client.Secret
	}
	if err := next.fill(answer, time.Now()); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	err = a.store.Update(ctx, a.loginKey(), func([]byte) ([]byte, error) { return next.marshal() })
	if err != nil {
		a.log.WarnContext(ctx, "a login could not be stored", slog.String("server", a.name), slog.String("error", err.Error()))
	}
	a.log.InfoContext(ctx, "logged in", slog.String("server", a.name), slog.String("issuer", s.Issuer))
	a.set(next)
	return nil
}

func (a *Authorizer) set(login *record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.login, a.loaded = login, true
}
