package server

import "github.com/bossman-mcp/bossman/mcp"

// HeaderParams returns the parameters of a tool that its input schema marks with
// x-mcp-header. HTTP transports ask for them to compare each header with the
// body; see the spec's Custom Headers from Tool Parameters.
func (s *Server) HeaderParams(tool string) []mcp.HeaderParam {
	if t, ok := s.tools.get(tool); ok {
		return t.headers
	}
	return nil
}

// mustMirror reads a tool's marks. Clients would leave out a tool with a bad one.
func mustMirror(t *mcp.Tool) []mcp.HeaderParam {
	headers, err := mcp.HeaderParams(t.InputSchema)
	if err != nil {
		panic("server: tool " + t.Name + ": " + err.Error())
	}
	return headers
}
