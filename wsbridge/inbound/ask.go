package inbound

import (
	"encoding/json"
	"errors"
	"strings"

	"opentabs/wire"
)

// Limits of the texts of an ask, in characters.
const (
	maxAskTool  = 200
	maxAskTitle = 200
)

// CheckAsk returns an error for a malformed ask, and cleans the texts of p.
func CheckAsk(p *wire.ToolAskParams) error {
	kinds := 0
	if p.Withdrawn {
		kinds++
	}
	if p.Call != nil {
		kinds++
		p.Call.Tool = Text(p.Call.Tool, maxAskTool)
	}
	if p.User != nil {
		kinds++
		p.User.Reason, p.User.Title = Text(p.User.Reason, wire.MaxMessageChars), Text(p.User.Title, maxAskTitle)
	}
	switch {
	case kinds != 1:
		return errors.New("an ask needs exactly one of call, user and withdrawn")
	case p.Ask < 1:
		return errors.New("the number of an ask is at least 1")
	}
	return nil
}

// IsObject reports whether valid JSON is an object.
func IsObject(text json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimLeft(string(text[:min(len(text), 16)]), " \t\r\n"), "{")
}
