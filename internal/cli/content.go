package cli

import (
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/bossman-mcp/bossman/mcp"
)

// printContents prints text and saves what is none. Where files went is told on
// notes, so that the output stays what the server said.
func printContents(w, notes io.Writer, folder string, contents mcp.Contents) error {
	for _, block := range contents {
		var err error
		switch c := block.(type) {
		case *mcp.TextContent:
			_, err = fmt.Fprintln(w, c.Text)
		case *mcp.ImageContent:
			err = saveFile(notes, folder, "image", c.MIMEType, c.Data)
		case *mcp.AudioContent:
			err = saveFile(notes, folder, "audio", c.MIMEType, c.Data)
		case *mcp.EmbeddedResource:
			err = printResource(w, notes, folder, &c.Resource)
		case *mcp.ResourceLink:
			_, err = fmt.Fprintf(w, "%s %s\n", oneLine(c.URI), oneLine(c.Name))
		case *mcp.UnknownContent:
			_, err = fmt.Fprintf(w, "%s\n", c.Raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printResource(w, notes io.Writer, folder string, r *mcp.ResourceContents) error {
	if r.Blob != nil {
		return saveFile(notes, folder, "resource", r.MIMEType, r.Blob)
	}
	_, err := fmt.Fprintln(w, r.Text)
	return err
}

// saveFile writes data to a new file. Its name is ours: a server chooses neither
// where it goes nor what it replaces.
func saveFile(notes io.Writer, folder, kind, mimeType string, data []byte) error {
	file, err := os.CreateTemp(folder, kind+"-*"+extension(mimeType))
	if err != nil {
		return fmt.Errorf("save %s: %w", kind, err)
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", kind, err)
	}
	_, err = fmt.Fprintf(notes, "saved %s (%s, %d bytes) as %s\n", kind, oneLine(mimeType), len(data), filepath.ToSlash(file.Name()))
	return err
}

// extension is what files of a type end in, as far as we know.
func extension(mimeType string) string {
	switch base, _, _ := strings.Cut(mimeType, ";"); strings.TrimSpace(base) {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/svg+xml":
		return ".svg"
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	}
	if known, err := mime.ExtensionsByType(mimeType); err == nil && len(known) > 0 {
		return known[0]
	}
	return ".bin"
}
