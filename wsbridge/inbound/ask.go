package inbound

import (
	"encoding/json"
	"errors"
	"strings"

	"opentabs/wire"
)

const (
	maxToolNameChars     = 200
	maxRequestTitleChars = 200
)

// CheckToolRequest cleans the texts in a tool.ask message in place, and returns an
// error if the message is malformed.
func CheckToolRequest(p *wire.ToolAskParams) error {
	requestKindCount := 0
	if p.Withdrawn {
		requestKindCount++
	}
	if p.Call != nil {
		requestKindCount++
		p.Call.Tool = CleanText(p.Call.Tool, maxToolNameChars)
	}
	if p.User != nil {
		requestKindCount++
		p.User.Reason, p.User.Title = CleanText(p.User.Reason, wire.MaxMessageChars), CleanText(p.User.Title, maxRequestTitleChars)
	}
	switch {
	case requestKindCount != 1:
		return errors.New("an ask needs exactly one of call, user and withdrawn")
	case p.Ask < 1:
		return errors.New("the number of an ask is at least 1")
	}
	return nil
}

// IsObject reports whether text, which must be valid JSON, is an object.
func IsObject(jsonText json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimLeft(string(jsonText[:min(len(jsonText), 16)]), " \t\r\n"), "{")
}
