package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/jsonrpc"
	"github.com/bossman-mcp/bossman/mcp"
)

// maxFile is the largest file that Files reads, in bytes.
const maxFile = 16 << 20

// Files reads the regular files of fsys, for a template with a variable path,
// such as file:///project/{+path}. A path is decoded once, with slashes between
// its parts, and stays inside: one with an empty part, a part . or .., a
// backslash or a NUL names nothing. What is no file, or cannot be opened, does
// not exist; files of more than 16 MiB are refused.
//
// Let fsys be that of an [os.Root], which follows no link that leads out of it.
// An [os.DirFS] follows every link, so it is only for folders to which nobody
// else can write. What wraps either must pass Stat on, by which pipes and devices
// are known without being opened.
func Files(fsys fs.FS) ReadFunc {
	return func(_ context.Context, _ *mcp.Call, r ReadRequest) ([]mcp.ResourceContents, error) {
		data, err := readFile(fsys, r.Vars["path"])
		switch {
		case errors.Is(err, errFileSize):
			return nil, jsonrpc.InvalidParams("the file has more than %d bytes", maxFile)
		case err != nil:
			return nil, &mcp.ResourceNotFoundError{URI: r.URI} // how it failed is nobody's business
		case utf8.Valid(data):
			return []mcp.ResourceContents{{Text: string(data)}}, nil
		}
		return []mcp.ResourceContents{{Blob: data}}, nil
	}
}

var errFileSize = errors.New("file too large")

// readFile looks before it opens, since to open a pipe may block and to open a
// device may do harm, and again afterwards.
func readFile(fsys fs.FS, path string) ([]byte, error) {
	if !fs.ValidPath(path) || path == "." || strings.ContainsAny(path, "\\\x00") {
		return nil, fs.ErrInvalid
	}
	if err := isFile(fs.Stat(fsys, path)); err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := isFile(f.Stat()); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errFileSize
	}
	return data, err
}

func isFile(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fs.ErrInvalid
	case info.Size() > maxFile:
		return errFileSize
	}
	return nil
}
