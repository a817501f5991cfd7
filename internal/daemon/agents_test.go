package daemon

import (
	"testing"
	"time"

	"opentabs/mcpserver"
)

func TestDetachRules(t *testing.T) {
	ruleOf := detachRules("20s, claude-code=auto, cursor=never")
	for client, want := range map[string]mcpserver.Detach{
		"x": {After: 20 * time.Second}, "claude-code": {BeforeTimeout: true}, "Cursor": {}, CommandClient: {},
	} {
		if got := ruleOf(client); got != want {
			t.Errorf("%s: %+v; want %v", client, got, want)
		}
	}
}
