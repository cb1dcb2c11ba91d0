package mcp

import "context"

type principalKey struct{}

// WithPrincipal returns a context that says who is calling. It is the one value
// that HTTP middleware hands to the transport behind it, which puts it on the
// [Call]; handlers read it there.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns what [WithPrincipal] put into ctx, nil for nobody.
func PrincipalFrom(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}
