package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bossman-mcp/bossman/mcp"
)

// maxFolders is how deep folders may nest.
const maxFolders = 32

// scan finds and checks the skills of a file system.
func scan(fsys fs.FS, opts *Options) (*catalogue, error) {
	c := &catalogue{
		fsys: fsys, opts: opts, base: scheme,
		byURI: make(map[string]*offered), files: make(map[string]*file), folders: make(map[string][]mcp.Resource),
	}
	if opts.Prefix != "" {
		for segment := range strings.SplitSeq(opts.Prefix, "/") {
			if !plainSegment(segment) {
				return nil, fmt.Errorf("the prefix %q must be names with single slashes between them", opts.Prefix)
			}
		}
		c.base += escapePath(opts.Prefix) + "/"
	}
	if err := c.folder(".", nil); err != nil {
		return nil, err
	}
	for _, name := range opts.Dynamic {
		if !slices.ContainsFunc(c.skills, func(k *offered) bool { return k.path == name }) {
			return nil, fmt.Errorf("there is no skill %q that could be dynamic", name)
		}
	}
	c.sort()
	return c, nil
}

// folder looks through a folder, which is inside the given skills.
func (c *catalogue) folder(dir string, inside []*offered) error {
	if strings.Count(dir, "/") > maxFolders {
		return fmt.Errorf("folder %s is too deep", dir)
	}
	entries, err := fs.ReadDir(c.fsys, dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == manifest }) && (len(inside) == 0 || c.opts.Nested) {
		k, err := c.skill(dir)
		if err != nil {
			return err
		}
		if k.dynamic {
			return c.dynamicInside(dir, inside)
		}
		inside = append(slices.Clip(inside), k)
	}
	if len(inside) > 0 {
		c.addFolder(c.uri(dir))
	}
	for _, e := range entries {
		if isHidden(e.Name()) {
			continue
		}
		name := path.Join(dir, e.Name())
		switch {
		case !plainSegment(e.Name()) || !utf8.ValidString(e.Name()):
			err = fmt.Errorf("the name of %q cannot be part of a URI", name)
		case e.IsDir():
			err = c.folder(name, inside)
		case !e.Type().IsRegular():
			err = fmt.Errorf("%s is no plain file: links, devices and pipes are not served", name)
		case len(inside) > 0:
			err = c.file(name, e, inside)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isHidden reports whether a name is one that is not served.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// dynamicInside ends the look at a dynamic skill, whose files are looked for when they
// are asked for.
func (c *catalogue) dynamicInside(dir string, inside []*offered) error {
	if len(inside) > 0 {
		return fmt.Errorf("skill %s is dynamic, so that skill %s around it must be too", dir, inside[0].path)
	}
	c.addFolder(c.uri(dir))
	return nil
}

// skill enters the skill in a folder.
func (c *catalogue) skill(dir string) (*offered, error) {
	if dir == "." {
		return nil, errors.New("a skill must have a folder of its own, and " + manifest + " is not in one")
	}
	k := &offered{path: dir, uri: c.uri(dir) + "/" + manifest, dynamic: slices.Contains(c.opts.Dynamic, dir)}
	var err error
	if k.front, k.description, err = c.manifest(dir); err != nil {
		return nil, err
	}
	c.skills = append(c.skills, k)
	c.byURI[k.uri] = k
	return k, nil
}

// file enters a file of the skills that it is inside of.
func (c *catalogue) file(name string, e fs.DirEntry, inside []*offered) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	f := &file{path: name, uri: c.uri(name), size: info.Size(), changed: info.ModTime()}
	for _, k := range inside {
		k.files = append(k.files, f)
		k.bytes += f.size
		if len(k.files) > MaxFiles {
			return fmt.Errorf("skill %s has more than %d files", k.path, MaxFiles)
		}
		if k.bytes > MaxBytes {
			return fmt.Errorf("skill %s has more than %d bytes", k.path, MaxBytes)
		}
	}
	c.files[f.uri] = f
	c.addChild(c.describe(f.uri, e.Name(), f.size))
	return nil
}

// addFolder enters a folder, and those around it.
func (c *catalogue) addFolder(uri string) {
	if _, known := c.folders[uri]; known {
		return
	}
	c.folders[uri] = nil
	c.addChild(mcp.Resource{URI: uri, Name: lastSegment(uri), MIMEType: DirectoryType})
}

// addChild enters a file or folder into the folder around it.
func (c *catalogue) addChild(child mcp.Resource) {
	around := child.URI[:strings.LastIndexByte(child.URI, '/')]
	if len(around) < len(scheme) {
		return
	}
	c.addFolder(around)
	c.folders[around] = append(c.folders[around], child)
}
