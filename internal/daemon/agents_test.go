package daemon

import (
	"testing"
	"time"

	"opentabs/internal/config"
	"opentabs/mcpserver"
	"opentabs/mcpserver/gateway"
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

// An opentabs command lists all tools, because the command searches the list for its tool.
func TestListRules(t *testing.T) {
	modeOf := listModes("gateway, Cursor=all, x=auto")
	for client, want := range map[string]gateway.Mode{"other": gateway.ListGateway, "cursor": gateway.ListAll, "x": gateway.Auto, CommandClient: gateway.ListAll} {
		if got := modeOf(client); got != want {
			t.Errorf("%s lists %s, want %s", client, got, want)
		}
	}
	for setting, want := range map[string]map[string]bool{
		"auto":                 {"claude-code": false, "cursor-vscode": true, "other": true, CommandClient: false},
		"on":                   {"claude-code": true},
		"off, claude-code=on":  {"claude-code": true, "other": false},
		"on, claude-code=auto": {"claude-code": false, "other": true},
	} {
		for client, lists := range want {
			if got := outputSchemaRules(config.OutputSchemas(setting))(client, "3"); got != lists {
				t.Errorf("%q: %s lists output schemas: %t, want %t", setting, client, got, lists)
			}
		}
	}
}
