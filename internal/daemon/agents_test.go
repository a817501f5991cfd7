package daemon

import (
	"testing"
	"time"

	"opentabs/internal/config"
	"opentabs/mcpserver"
	"opentabs/mcpserver/gateway"
)

func TestDetachRuleOfClient(t *testing.T) {
	clientRule := makeDetachPolicyFunc("20s, claude-code=auto, cursor=never")
	for client, want := range map[string]mcpserver.DetachPolicy{
		"x": {After: 20 * time.Second}, "claude-code": {DetachBeforeTimeout: true}, "Cursor": {}, CallCommandClient: {},
	} {
		if got := clientRule(client); got != want {
			t.Errorf("detach rule of the client %s = %+v; want %v", client, got, want)
		}
	}
}

// An opentabs command lists all tools, because the command searches the list for its tool.
func TestListModeOfClient(t *testing.T) {
	listModeOf := makeListModeFunc("gateway, Cursor=all, x=auto")
	for client, want := range map[string]gateway.Mode{"other": gateway.ListGatewayTools, "cursor": gateway.ListAllTools, "x": gateway.ListAuto, CallCommandClient: gateway.ListAllTools} {
		if got := listModeOf(client); got != want {
			t.Errorf("list mode of the client %s = %s, want %s", client, got, want)
		}
	}
	for setting, want := range map[string]map[string]bool{
		"auto":                 {"claude-code": false, "cursor-vscode": true, "other": true, CallCommandClient: false},
		"on":                   {"claude-code": true},
		"off, claude-code=on":  {"claude-code": true, "other": false},
		"on, claude-code=auto": {"claude-code": false, "other": true},
	} {
		for client, toolLists := range want {
			if got := outputSchemaRules(config.OutputSchemas(setting))(client, "3"); got != toolLists {
				t.Errorf("with the setting %q, output schemas for %s = %t, want %t", setting, client, got, toolLists)
			}
		}
	}
}
