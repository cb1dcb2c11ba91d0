package pairs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/client"
	"github.com/bossman-mcp/bossman/internal/jsonscan"
	"github.com/bossman-mcp/bossman/internal/lifecycle"
	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
	"github.com/bossman-mcp/bossman/mcp/revision"
)

// The three kinds of implementation that the spec's section Terminology names.
var (
	modern  = side{"modern", "stateless"}
	legacy  = side{"legacy", "handshake"}
	dualEra = side{"dual-era", ""}
)

// row is one of the spec's Compatibility Matrix.
type row struct {
	from, to side
	works    string // in which revision; empty: it fails
	opens    string // the methods that the client tries before anything else
	fails    func(form string, err error) error
}

// matrix is the spec's, in its order. Legacy servers and clients differ in what
// they do with HTTP; here they are those with sessions, and TestEveryPair has the
// others.
var matrix = []row{
	{modern, modern, revision.Newest().Name, "server/discover", nil},
	{modern, legacy, "", "server/discover", failsToProbe},
	{dualEra, modern, revision.Newest().Name, "server/discover", nil},
	{dualEra, legacy, revision.NewestHandshake().Name, "server/discover initialize", nil},
	{legacy, modern, "", "initialize", failsToInitialize},
	{legacy, dualEra, revision.NewestHandshake().Name, "initialize", nil},
	{legacy, legacy, revision.NewestHandshake().Name, "initialize", nil},
}

func TestCompatibilityMatrix(t *testing.T) {
	for _, form := range []string{"stdio", "http"} {
		for _, row := range matrix {
			t.Run(form+"/"+row.from.name+"/"+row.to.name, func(t *testing.T) {
				t.Parallel()
				row.try(t, form)
			})
		}
	}
}

func (w *row) try(t *testing.T, form string) {
	r := newRig(t, form, newFixture(), w.from, w.to)
	c, err := r.connect(w.from)
	spoken := w.works
	switch {
	case w.works == "":
		if err == nil {
			t.Fatalf("they speak %s", c.Server().Revision)
		}
		if wrong := w.fails(form, err); wrong != nil {
			t.Error(wrong)
		}
		spoken = revision.NewestHandshake().Name
		if w.from == modern {
			spoken = revision.Newest().Name
		}
	case err != nil:
		t.Fatal(err)
	default:
		if got := c.Server().Revision; got != w.works {
			t.Errorf("they speak %s, want %s", got, w.works)
		}
		if revision.Lookup(w.works).Sessions && r.http != nil {
			r.await("the session's own stream", func() bool { return r.http.last("GET") == " 200 text/event-stream" })
		}
		if _, err := client.Collect(c.Tools(t.Context())); err != nil {
			t.Error(err)
		}
	}
	outcome := "works"
	if w.works == "" {
		outcome = "fails"
	}
	title := fmt.Sprintf("A %s client opens a connection to a %s server, which %s.", w.from.name, w.to.name, outcome)
	r.finish(filepath.Join("testdata", "transcripts", "matrix", form, w.from.name+"-"+w.to.name+".txtar"), title, spoken, c)
	if got := strings.Join(methods(r.recording.String()), " "); got != w.opens && !strings.HasPrefix(got, w.opens+" ") {
		t.Errorf("the client opens with %s, want %s", got, w.opens)
	}
}

// methods returns the methods of a recording, in order.
func methods(recording string) []string {
	var all []string
	for _, part := range strings.Split(recording, `"method":"`)[1:] {
		method, _, _ := strings.Cut(part, `"`)
		all = append(all, method)
	}
	return all
}

// failsToProbe wants an error that tells the user what to do: the client needs an
// older revision.
func failsToProbe(_ string, err error) error {
	var other *lifecycle.NotStatelessError
	if !errors.As(err, &other) || !strings.Contains(err.Error(), "held to "+revision.Newest().Name) {
		return fmt.Errorf("got %w, want what the client is held to", err)
	}
	return nil
}

// failsToInitialize wants the server's refusal, which names the revisions that it
// speaks. On HTTP the request also lacks the headers that are required.
func failsToInitialize(form string, err error) error {
	want := mcp.CodeUnsupportedVersion
	if form == "http" {
		want = mcp.CodeHeaderMismatch
	}
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != want || !strings.Contains(refused.Message, revision.Newest().Name) {
		return fmt.Errorf("got %w, want code %d and the revisions that the server speaks", err, want)
	}
	return nil
}

// TestAnOldestClientFailsAtItsFirstGET is the rest of the row Legacy, Modern.
func TestAnOldestClientFailsAtItsFirstGET(t *testing.T) {
	oldest := until(revision.All()[0])
	r := newRig(t, "http", newFixture(), oldest, modern)
	_, err := r.connect(oldest)
	if err == nil || !strings.Contains(err.Error(), revision.Newest().Name) {
		t.Errorf("got %v, want what the server speaks", err)
	}
	r.close()
	if got := r.http.String(); got != "HTTP:\n  GET: 404 application/json\n" {
		t.Errorf("got %s", got)
	}
}

// TestAVersionMismatchNamesWhatIsSpoken is the rest of the row Modern, Modern: a
// request for another version is refused with the list to choose from, and the
// choice is served.
func TestAVersionMismatchNamesWhatIsSpoken(t *testing.T) {
	const other = "1900-01-01"
	for _, form := range []string{"stdio", "http"} {
		t.Run(form, func(t *testing.T) {
			r := newRig(t, form, newFixture(), modern, modern)
			wire, err := r.dialer.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ask := func(version string) []byte {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				message := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"` + mcp.MetaProtocolVersion + `":"` + version + `","` + mcp.MetaClientCapabilities + `":{}}}}`
				if err := wire.Send(ctx, []byte(message)); err != nil {
					t.Fatal(err)
				}
				answer, err := wire.Receive(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return answer
			}
			refused := jsonscan.Get(ask(other), "error")
			data := jsonscan.Get(refused, "data")
			if code := string(jsonscan.Get(refused, "code")); code != fmt.Sprint(mcp.CodeUnsupportedVersion) || jsonscan.Unquote(jsonscan.Get(data, "requested")) != other {
				t.Errorf("got %s", refused)
			}
			for version := range jsonscan.Elements(jsonscan.Get(data, "supported")) {
				if answer := ask(jsonscan.Unquote(version)); jsonscan.Get(answer, "result") == nil {
					t.Errorf("%s is listed, and gets %s", version, answer)
				}
			}
			if err := wire.Close(); err != nil {
				t.Error(err)
			}
			r.close()
		})
	}
}
