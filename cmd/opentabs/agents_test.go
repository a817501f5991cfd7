package main

import (
	"testing"
	"time"

	"opentabs/mcpserver"
)

func TestDetachOf(t *testing.T) {
	of := detachOf("20s, claude-code=auto, cursor=never")
	for client, want := range map[string]mcpserver.Detach{
		"x": {After: 20 * time.Second}, "claude-code": {Auto: true}, "Cursor": {}, callClient: {},
	} {
		if got := of(client); got != want {
			t.Errorf("%s: %+v", client, got)
		}
	}
}
