package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
)

var agentMethods = []string{
	"initialize", "ping", "logging/setLevel", "completion/complete", "server/discover", "subscriptions/listen",
	"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "roots/list", "sampling/createMessage", "elicitation/create",
	"tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "notifications/elicitation/complete", "notifications/tasks/status",
	"call.decide", "config.permission", "config.review", "call/decide", "calls/decide", "plugins/permission", "plugins/review",
	"plugin_inspect", "plugin_mark_reviewed", "permissions/set",
}

var agentTools = []string{
	"plugin_mark_reviewed", "plugin_review", "plugin_permission", "set_permission", "call_decide", "calls_approve", "opentabs__approve",
	"messages__permission", "config.permission", "plugin__review", "tools_search", "tools_describe", "tools_call", "tools_read", "tools_pin",
}

// TestAttackByAgent checks that an agent cannot run tools that the user has not allowed. The simulated agent has no
// shell, because an agent with a shell could do everything that the user can.
func TestAttackByAgent(t *testing.T) {
	t.Run("every method and tool, while a call waits for approval", attackWithAllMethods)
	t.Run("calls with invalid arguments, to flood the user with requests for approval", attackWithInvalidCalls)
	t.Run("refusals name no tool that would allow the call", attackRefusalTexts)
	t.Run("gateway tools, to call tools that are not allowed", attackThroughGateway)
}

func startWaitingCall(t *testing.T) (c *mcpClient, permissions string, view func() dispatch.View) {
	t.Helper()
	dirs := newInstallation(t)
	if err := os.WriteFile(dirs.ConfigFile(), []byte(`{"detach":"1s"}`), 0o600); err != nil { // the short detach time enables jobs, which add tools to the list
		t.Fatal(err)
	}
	mustRunOpentabs(t, dirs, "plugin", "permission", "messages", "ask")
	mustRunOpentabs(t, dirs, "plugin", "permission", "messages__silent", "off")
	c = startMCP(t, dirs)
	c.initialize()
	startFakeBrowser(t, dirs)
	c.send(`{"jsonrpc":"2.0","id":"waits","method":"tools/call","params":{"name":"messages__echo","arguments":{"text":"hello"}}}`)
	view = func() dispatch.View {
		t.Helper()
		var waitingCall dispatch.View
		waitForCalls(t, dirs, func(calls []dispatch.View) bool {
			for _, v := range calls {
				if v.Tool == "echo" && v.Waiting != nil {
					waitingCall = v
				}
			}
			return waitingCall.Waiting != nil
		})
		return waitingCall
	}
	return c, filepath.Join(dirs.State, "permissions.json"), view
}

func attackWithAllMethods(t *testing.T) {
	c, file, view := startWaitingCall(t)
	waitingCall := view()
	savedPermissions, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// forgedParams contains every field that a request from the side panel or the command
	// line can have.
	forgedParams, err := json.Marshal(map[string]any{
		"name": "messages", "plugin": "messages", "tool": "silent", "permission": "auto", "hash": "", "allow": true, "scope": "always",
		"callId": waitingCall.CallID, "call_id": waitingCall.CallID, "ticketId": waitingCall.Waiting.TicketID, "ticket_id": waitingCall.Waiting.TicketID,
		"job": waitingCall.CallID, "taskId": waitingCall.CallID, "uri": "opentabs://calls/" + waitingCall.CallID, "action": "accept",
		"content": map[string]any{"decision": "allow once"}, "decision": "allow once",
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	sendRequest := func(method, params string) string {
		n++
		c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params)
		lines := c.readUntilText(fmt.Sprintf(`"id":%d`, n))
		return lines[len(lines)-1]
	}
	for _, method := range agentMethods {
		if strings.HasPrefix(method, "notifications/") {
			c.send(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, forgedParams)
			continue
		}
		if method != "initialize" {
			sendRequest(method, string(forgedParams))
		}
	}
	var toolList struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(sendRequest("tools/list", "{}")), &toolList); err != nil || len(toolList.Result.Tools) < 6 {
		t.Fatalf("tools that the client listed = %v, error %v; want at least 6 tools", toolList, err)
	}
	tools := agentTools
	for _, tool := range toolList.Result.Tools {
		if !strings.HasPrefix(tool.Name, "messages__") && tool.Name != "job_cancel" && tool.Name != "job_wait" {
			tools = append(tools, tool.Name)
		}
	}
	for _, tool := range tools {
		sendRequest("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, forgedParams))
		sendRequest("tools/call", fmt.Sprintf(`{"name":"tools_call","arguments":{"name":%q,"arguments":%s}}`, tool, forgedParams))
	}
	// An unsolicited response must not approve the call.
	c.send(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"decision":"allow once"}}}`, waitingCall.Waiting.TicketID)
	sendRequest("ping", "{}")

	if permissions, err := os.ReadFile(file); err != nil || !bytes.Equal(savedPermissions, permissions) {
		t.Errorf("permissions after the attack = %s, error %v; want the file unchanged", permissions, err)
	}
	if currentView := view(); currentView.Waiting.TicketID != waitingCall.Waiting.TicketID {
		t.Errorf("ticket of the call after the attack = %+v, want the same open ticket", currentView.Waiting)
	}
}

// attackWithInvalidCalls checks that a call with wrong arguments is rejected without
// asking the user for approval.
func attackWithInvalidCalls(t *testing.T) {
	c, _, view := startWaitingCall(t)
	view()
	for n, params := range []string{
		`{"name":"messages__echo","arguments":{"flag":"no boolean"}}`, `{"name":"messages__nothing","arguments":{}}`,
		`{"name":"messages__echo","arguments":[]}`, `{"name":"messages__silent","arguments":{}}`,
	} {
		c.send(`{"jsonrpc":"2.0","id":"wrong%d","method":"tools/call","params":%s}`, n, params)
		c.readUntilText(fmt.Sprintf(`"id":"wrong%d"`, n)) // invalid calls end at once, while the first call waits for approval
	}
}

// attackRefusalTexts checks that the text of a refusal suggests no way to circumvent the
// refusal.
func attackRefusalTexts(t *testing.T) {
	c, _, _ := startWaitingCall(t)
	c.send(`{"jsonrpc":"2.0","id":"off","method":"tools/call","params":{"name":"messages__silent","arguments":{}}}`)
	lines := c.readUntilText(`"id":"off"`)
	refusal := lines[len(lines)-1]
	for _, want := range []string{"the user has turned the tool messages__silent off", "Only the user can allow the call", "Do not call again until the user confirms the permission"} {
		if !strings.Contains(refusal, want) {
			t.Errorf("refusal of the call = %q, want a text that contains %q", refusal, want)
		}
	}
}

// Through the gateway, a tool with the permission "off" must not run, and a tool with "ask" must wait for approval.
func attackThroughGateway(t *testing.T) {
	c, _, view := startWaitingCall(t)
	view()
	n := 0
	call := func(tool, arguments string) string {
		n++
		c.send(`{"jsonrpc":"2.0","id":"gateway%d","method":"tools/call","params":{"name":%q,"arguments":%s}}`, n, tool, arguments)
		lines := c.readUntilText(fmt.Sprintf(`"id":"gateway%d"`, n))
		return lines[len(lines)-1]
	}
	for _, tool := range []string{"tools_call", "tools_read"} {
		for _, arguments := range []string{`{"name":"messages__silent","arguments":{}}`, `{"name":"messages__silent","arguments":{"permission":"auto"}}`, `{"name":"messages__silent"}`} {
			if replyText := call(tool, arguments); !strings.Contains(replyText, "the user has turned the tool messages__silent off") {
				t.Errorf("%s with the arguments %s returned %s, want that the user has turned the tool off", tool, arguments, replyText)
			}
		}
	}
	for _, arguments := range []string{`{"name":"tools_call","arguments":{"name":"messages__echo","arguments":{}}}`, `{"name":"tools_read","arguments":{}}`} {
		if replyText := call("tools_call", arguments); !strings.Contains(replyText, "cannot call") {
			t.Errorf("tools_call with the arguments %s returned %s, want that it cannot call the tool", arguments, replyText)
		}
	}
	// The result of a call that waits for approval is a job.
	if replyText := call("tools_call", `{"name":"messages__echo","arguments":{"text":"x"}}`); !strings.Contains(replyText, "is waiting for the user") {
		t.Errorf("the call of a tool with the permission ask returned %s, want that it is waiting for the user", replyText)
	}
	if replyText := call("tools_search", `{"query":"silent","limit":50}`); !strings.Contains(replyText, "messages__silent(") || !strings.Contains(replyText, "off") {
		t.Errorf("tools_search returned %s, want messages__silent marked as off", replyText)
	}
}

func waitForCalls(t *testing.T, dirs config.Dirs, matchesCalls func([]dispatch.View) bool) {
	t.Helper()
	waitForStatus(t, dirs, func(httpapi.Status) bool {
		record, _ := dirs.ReadServer()
		token, err := dirs.Token()
		if err != nil {
			t.Fatal(err)
		}
		calls, err := httpapi.NewClient(record.Port, token).Calls.List(t.Context())
		return err == nil && matchesCalls(calls)
	})
}
