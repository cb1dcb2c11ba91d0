package login

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/bossman-mcp/bossman/oauth"
)

// Browser shows pages to a person.
type Browser interface {
	// Open shows a page, and returns without waiting for the person. The URL has
	// been checked: see [SystemBrowser].
	Open(ctx context.Context, url string) error
}

// checkPage refuses URLs that are not for a browser to open: anything but https,
// or plain http on this machine, and any character that could mean something to a
// shell, wherever one may come in, but for the question mark and the ampersand
// without which there are no queries.
func checkPage(address string) error {
	if err := oauth.CheckURL(address); err != nil {
		return err
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~%+=/:,@?&[]", r)
	}
	path, _, _ := strings.Cut(address, "?")
	if strings.ContainsFunc(address, odd) || strings.Contains(path, "&") {
		return fmt.Errorf("%w: a character that a shell could take for its own", oauth.ErrAddress)
	}
	return nil
}

// SystemBrowser is the browser that the person chose for this machine. It opens
// https pages, and plain http pages of this machine, and refuses all else. The
// program that opens it is started with the URL as one argument, without a shell.
func SystemBrowser() Browser { return system{} }

type system struct{}

func (system) Open(ctx context.Context, address string) error {
	if err := checkPage(address); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	argv := append(opener(), address)
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	ended := make(chan error, 1)
	// Nobody waits for it: some openers last as long as the browser.
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("open browser: %s: %w", argv[0], err)
		}
		return nil
	case <-time.After(openerTime):
		return nil
	}
}

// openerTime is how long an opener may take to report that it cannot.
const openerTime = 2 * time.Second
