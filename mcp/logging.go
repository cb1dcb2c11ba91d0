package mcp

import "github.com/go-json-experiment/json/jsontext"

// LoggingLevel is the severity of a log message, in the words of RFC 5424.
type LoggingLevel string

// The levels, from the least severe to the most.
const (
	LevelDebug     LoggingLevel = "debug"
	LevelInfo      LoggingLevel = "info"
	LevelNotice    LoggingLevel = "notice"
	LevelWarning   LoggingLevel = "warning"
	LevelError     LoggingLevel = "error"
	LevelCritical  LoggingLevel = "critical"
	LevelAlert     LoggingLevel = "alert"
	LevelEmergency LoggingLevel = "emergency"
)

// Valid tells whether l is one of the eight levels.
func (l LoggingLevel) Valid() bool { return l.severity() > 0 }

// AtLeast tells whether a message of level l passes a filter set to min. It is
// false when either is no level: without a filter nothing is to be sent.
func (l LoggingLevel) AtLeast(min LoggingLevel) bool {
	return l.Valid() && min.Valid() && l.severity() >= min.severity()
}

// severity grows with the level; it is 0 for what is no level.
func (l LoggingLevel) severity() int {
	switch l {
	case LevelDebug:
		return 1
	case LevelInfo:
		return 2
	case LevelNotice:
		return 3
	case LevelWarning:
		return 4
	case LevelError:
		return 5
	case LevelCritical:
		return 6
	case LevelAlert:
		return 7
	case LevelEmergency:
		return 8
	}
	return 0
}

// LoggingMessageParams is a log message of the server. The newest revision
// deprecates logging and still carries it.
type LoggingMessageParams struct {
	Meta   Meta           `json:"_meta,omitzero"`
	Level  LoggingLevel   `json:"level"`
	Logger string         `json:"logger,omitzero"`
	Data   jsontext.Value `json:"data"` // any JSON; nil is written as null
}
