package skills

import (
	"path"
	"strings"
)

const markdown = "text/markdown"

// typeOf is the MIME type of a file by its name, empty if the name does not tell. It
// is the same on every machine, which package mime's is not.
func typeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return markdown
	case ".txt":
		return "text/plain"
	case ".html", ".htm":
		return "text/html"
	case ".css":
		return "text/css"
	case ".csv":
		return "text/csv"
	case ".js", ".mjs", ".cjs":
		return "text/javascript"
	case ".ts":
		return "text/x-typescript"
	case ".py":
		return "text/x-python"
	case ".go":
		return "text/x-go"
	case ".rb":
		return "text/x-ruby"
	case ".sh", ".bash":
		return "text/x-shellscript"
	case ".json":
		return "application/json"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".xml", ".xsd":
		return "application/xml"
	case ".svg":
		return "image/svg+xml"
	}
	return binaryType(name)
}

// binaryType is the MIME type of a file that is no text.
func binaryType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".pdf":
		return "application/pdf"
	case ".zip":
		return "application/zip"
	case ".wasm":
		return "application/wasm"
	case ".ttf":
		return "font/ttf"
	case ".woff2":
		return "font/woff2"
	case ".docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case ".pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case ".xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return ""
}
