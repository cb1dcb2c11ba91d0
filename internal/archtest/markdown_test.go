package archtest_test

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A document is a Markdown file.
type document struct {
	path   string
	lines  []string
	prose  []string // lines, with those of code blocks empty
	blocks []codeBlock
}

// A codeBlock is what stands between two fences.
type codeBlock struct {
	language string
	line     int // of the first line after the fence
	lines    []string
}

// A link is the target of a link or image, as written.
type link struct {
	line   int
	target string
}

var (
	fencePattern = regexp.MustCompile("^ *(`{3,}|~{3,})[ \t]*([^ \t`]*)")
	codeSpan     = regexp.MustCompile("`+[^`]+`+")
	linkPatterns = []*regexp.Regexp{
		regexp.MustCompile(`\]\(\s*<?([^()\s<>]+)>?(?:\s+["'][^"']*["'])?\s*\)`),
		regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)`),
		regexp.MustCompile(`\b(?:href|src)="([^"]+)"`),
	}
	linkInHeading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	ownAnchor     = regexp.MustCompile(`\b(?:id|name)="([^"]+)"`)
)

func readDocument(name, text string) *document {
	d := &document{path: name, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	d.prose = slices.Clone(d.lines)
	fence := "" // what opened the block that we are in
	for i, line := range d.lines {
		match := fencePattern.FindStringSubmatch(line)
		switch {
		case fence == "" && match != nil:
			fence = match[1]
			d.blocks = append(d.blocks, codeBlock{language: match[2], line: i + 2})
		case fence == "":
			continue
		case match != nil && strings.HasPrefix(match[1], fence) && strings.Trim(line, " \t"+fence[:1]) == "":
			fence = ""
		default:
			b := &d.blocks[len(d.blocks)-1]
			b.lines = append(b.lines, line)
		}
		d.prose[i] = ""
	}
	return d
}

// links returns the links of the prose, in order.
func (d *document) links() []link {
	var links []link
	for i, line := range d.prose {
		line = codeSpan.ReplaceAllString(line, "`code`")
		for _, pattern := range linkPatterns {
			for _, match := range pattern.FindAllStringSubmatch(line, -1) {
				links = append(links, link{i + 1, match[1]})
			}
		}
	}
	return links
}

// resolve returns the file and the anchor that a link in the document points
// to, false if it points outside the repository's files, such as to the web.
func (d *document) resolve(target string) (file, anchor string, local bool) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", "", err != nil
	}
	switch {
	case u.Path == "":
		file = d.path
	case strings.HasPrefix(u.Path, "/"):
		file = path.Clean(strings.TrimLeft(u.Path, "/"))
	default:
		file = path.Join(path.Dir(d.path), u.Path)
	}
	return file, u.Fragment, true
}

// anchors returns the places in the document that a link can name.
func (d *document) anchors() []string {
	var anchors []string
	for _, line := range d.prose {
		for _, match := range ownAnchor.FindAllStringSubmatch(line, -1) {
			anchors = append(anchors, match[1])
		}
		title := strings.TrimLeft(line, "#")
		if depth := len(line) - len(title); depth == 0 || depth > 6 || !strings.HasPrefix(title, " ") {
			continue
		}
		title = linkInHeading.ReplaceAllString(strings.Trim(title, " #"), "$1")
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		unique := name
		for n := 1; slices.Contains(anchors, unique); n++ {
			unique = name + "-" + strconv.Itoa(n)
		}
		anchors = append(anchors, unique)
	}
	return anchors
}

func TestDocumentsAreReadAsMarkdown(t *testing.T) {
	d := readDocument("docs/guide.md", strings.Join([]string{
		"# Guide: `stdio` & [more](a.md)", // 1
		"See [a](a.md), ![b](../b.png \"B\") and `[c](c.md)`.",
		"````md",
		"```go",
		"[d](d.md)",
		"```",
		"````",
		"[e]: <e.md>",
		"## Setup",
		"<a id=\"here\" href=\"f.md\">f</a>",
		"## Setup",
		"   ```sh", // 12
		"   bossman serve",
		"   ```",
	}, "\n"))
	var links []string
	for _, l := range d.links() {
		links = append(links, strconv.Itoa(l.line)+" "+l.target)
	}
	if want := []string{"1 a.md", "2 a.md", "2 ../b.png", "8 e.md", "10 f.md"}; !slices.Equal(links, want) {
		t.Errorf("links %q, want %q", links, want)
	}
	if got, want := d.anchors(), []string{"guide-stdio--more", "setup", "here", "setup-1"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
	if len(d.blocks) != 2 || d.blocks[0].language != "md" || len(d.blocks[0].lines) != 3 ||
		d.blocks[1].language != "sh" || d.blocks[1].line != 13 || len(d.blocks[1].lines) != 1 {
		t.Errorf("blocks %v", d.blocks)
	}
	for target, want := range map[string]string{
		"#setup": "docs/guide.md", "a.md#x": "docs/a.md", "../b.png": "b.png", "/LICENSE": "LICENSE", "a%20b.md": "docs/a b.md",
		"https://example.org/a.md": "", "//example.org/a.md": "", "mailto:a@example.org": "",
	} {
		if file, _, _ := d.resolve(target); file != want {
			t.Errorf("%s leads to %q, want %q", target, file, want)
		}
	}
}
