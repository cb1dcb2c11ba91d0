package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/bossman-mcp/bossman/mcp"
)

// progressBar shows how far a call is, on a terminal only.
type progressBar struct {
	w     io.Writer // nil: nobody looks
	shown bool
}

func newProgressBar(w io.Writer) *progressBar {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &progressBar{w: w}
	}
	return &progressBar{}
}

const barWidth = 30

func (b *progressBar) show(p *mcp.ProgressParams) {
	if b.w == nil {
		return
	}
	b.shown = true
	fmt.Fprintf(b.w, "\r\x1b[K%s %s", barText(p), oneLine(p.Message))
}

// barText draws a bar, or a number where the end is not known.
func barText(p *mcp.ProgressParams) string {
	if p.Total == nil || *p.Total <= 0 {
		return fmt.Sprintf("%g", p.Progress)
	}
	part := min(max(p.Progress / *p.Total, 0), 1)
	full := int(part * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), part*100)
}

// clear takes the bar away.
func (b *progressBar) clear() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
