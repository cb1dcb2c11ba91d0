package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bossman-mcp/bossman/fleet"
	"github.com/bossman-mcp/bossman/jsonrpc/peer"
	"github.com/bossman-mcp/bossman/oauth/login"
	"github.com/bossman-mcp/bossman/streamable"
)

// loginFlags are how people log in at servers that ask who is calling.
type loginFlags struct {
	noBrowser bool
	clientID  string
	port      int
	networks  []net.IPNet
}

func (f *loginFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.noBrowser, "no-browser", false, "if the server wants a login, print the page to open instead of opening it")
	flags.StringVar(&f.clientID, "client-id", "", "client to log in as, if it is registered already (its secret is in $BOSSMAN_CLIENT_SECRET, if it has one)")
	flags.IPNetSliceVar(&f.networks, "login-network", nil, "private network, such as 10.0.0.0/8, in which the login may be; others are off limits")
	flags.IntVar(&f.port, "login-port", 0, "port of this machine on which the browser brings the login back (default: any)")
}

// loginFolder is where logins are kept, empty if this user has no folder for such.
func loginFolder() string {
	base, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "bossman", "logins")
}

// authorizer gets past a server with a URL, if it asks who is calling. It is nil
// where that is settled: by a header, by the address itself, by the configuration,
// or because nothing secret may be sent there.
func (t *target) authorizer(server *fleet.ServerConfig) *login.Authorizer {
	u, err := url.Parse(server.URL)
	said := server.Login
	if said == nil {
		said = &fleet.Login{}
	}
	if err != nil || u.User != nil || said.Off || hasCredentials(server.Header) {
		return nil
	}
	grant := &login.Code{Name: "bossman"}
	switch {
	case t.login.clientID != "":
		grant.Client = &login.Client{ID: t.login.clientID, Secret: os.Getenv("BOSSMAN_CLIENT_SECRET")}
	case said.ClientID != "":
		grant.Client = &login.Client{ID: said.ClientID, Secret: said.ClientSecret}
	}
	port := t.login.port
	if port == 0 {
		port = said.Port
	}
	if t.login.noBrowser || isTerminal(t.says) {
		grant.UserAgent = &login.Loopback{Browser: &pages{out: t.says, print: t.login.noBrowser}, Port: port}
	}
	opts := &login.Options{Scopes: said.Scopes, Networks: prefixes(t.login.networks), Logger: t.logger()}
	if folder := loginFolder(); folder != "" {
		opts.Store = login.Files(folder)
	}
	a, err := login.New(server.URL, grant, opts)
	if err != nil {
		t.logger().Debug("no login is possible", "error", err) // plain http to another machine
		return nil
	}
	return a
}

// prefixes returns networks as package netip has them.
func prefixes(networks []net.IPNet) (all []netip.Prefix) {
	for _, n := range networks {
		addr, _ := netip.AddrFromSlice(n.IP)
		bits, _ := n.Mask.Size()
		all = append(all, netip.PrefixFrom(addr.Unmap(), bits).Masked())
	}
	return all
}

// hasCredentials reports whether headers say who is calling.
func hasCredentials(header map[string]string) bool {
	for name := range header {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// isTerminal reports whether words that are written there reach a person.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// pages shows pages to the person at the terminal.
type pages struct {
	out   io.Writer
	print bool // and open no browser
}

// Open shows a page. A person without a browser here may open it elsewhere.
func (p *pages) Open(ctx context.Context, page string) error {
	const ask = "The server wants you to log in."
	if p.print {
		fmt.Fprintf(p.out, "%s Open this page in a browser on this machine:\n\n  %s\n\n", ask, page)
		return nil
	}
	if err := login.SystemBrowser().Open(ctx, page); err != nil {
		fmt.Fprintf(p.out, "%s Your browser could not be opened (%v). Open this page in it:\n\n  %s\n\n", ask, err, page)
		return nil
	}
	fmt.Fprintf(p.out, "%s Go on in your browser. If it shows nothing, open this page in it:\n\n  %s\n\n", ask, page)
	return nil
}

// advise adds what to do about a login that could not be had.
func advise(err error) error {
	var refused *streamable.HTTPError
	switch {
	case errors.Is(err, login.ErrPerson):
		return fmt.Errorf("%w; run this at a terminal or with --no-browser to log in, or give a token or key with --header", err)
	case errors.Is(err, login.ErrBlocked):
		return fmt.Errorf("%w; if you trust the server, allow the network with --login-network", err)
	case errors.Is(err, peer.ErrUnauthorized), errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w; if you have a token or key for the server, give it with --header", err)
	}
	return err
}

func newLogout() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Forget the login at a server",
		Long: `Forget the login at an MCP server over HTTP, so that the next command logs in anew.

Commands log in by themselves, when a server asks for it, and keep the login in your
configuration folder. The server is not told that it is forgotten.`,
		Example: `  bossman logout --url https://mcp.example.com/mcp`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.logout(cmd)
		},
	}
	t.bind(cmd)
	return cmd
}

func (t *target) logout(cmd *cobra.Command) error {
	server := &fleet.ServerConfig{URL: t.url}
	switch {
	case (t.url == "") == (t.server == ""):
		return &usageError{errors.New("name one server: --url ADDRESS or --server NAME")}
	case t.server != "":
		var err error
		if server, err = t.find(); err != nil {
			return err
		}
		if server.URL == "" {
			return &usageError{fmt.Errorf("server %q is a command: there is no login", t.server)}
		}
	}
	a := t.authorizer(server)
	if a == nil {
		return &usageError{errors.New("at that server nobody can log in: its address must be https, or http on this machine, and neither it nor a header may hold a password")}
	}
	if err := a.Forget(cmd.Context()); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "ok")
	return nil
}
