package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"opentabs/wire"
)

const setLevelRequest = `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":%q}}`

// A client of protocol version 2026-07-28 must receive no log messages.
func TestClientsReceiveLogs(t *testing.T) {
	s := serveTools(t, callerReturning(`1`), Options{})
	p := s.dial(t)
	p.initialize("stdio")
	c := s.open(t, "http")
	res := c.do(c.newRequest(t.Context(), http.MethodGet, ""))
	defer res.Body.Close()
	get := newEvents(res.Body)
	expectMessages := func(want ...string) {
		t.Helper()
		stdio := p.mustReadMessage().messageJSON
		httpMessage, _ := get.readEventData()
		for _, w := range want {
			if !strings.Contains(stdio, w) || !strings.Contains(httpMessage, w) {
				t.Errorf("wanted log message: %s\nmessages over stdio: %s\nmessages over HTTP: %s", w, stdio, httpMessage)
			}
		}
	}
	s.ForwardLog(LogEntry{Plugin: "messages", Level: wire.LogDebug, Message: "not heard"})
	s.ForwardLog(LogEntry{Plugin: "messages", Level: wire.LogInfo, Message: "read", Data: json.RawMessage(`[{"n":1}]`), DroppedCount: 3})
	expectMessages(`"method":"notifications/message"`, `"level":"info"`, `"logger":"messages"`, `"data":{"data":[{"n":1}],"dropped":3,"message":"read"}`)

	p.sendMessage(fmt.Sprintf(setLevelRequest, "error"))
	if m := p.mustReadMessage(); m.Result == nil {
		t.Fatal(m.messageJSON)
	}
	c.call(fmt.Sprintf(setLevelRequest, "error"))
	s.ForwardLog(LogEntry{Plugin: "messages", Level: wire.LogWarning, Message: "not heard"})
	s.ForwardLog(LogEntry{Plugin: "messages", Level: wire.LogError, Message: "failed"})
	expectMessages(`"level":"error"`, `"data":{"message":"failed"}`)

	p.sendMessage(fmt.Sprintf(setLevelRequest, "debug"))
	if m := p.mustReadMessage(); m.Result == nil {
		t.Fatal(m.messageJSON)
	}
	c.call(fmt.Sprintf(setLevelRequest, "debug"))
	s.ForwardLog(LogEntry{Plugin: "messages", Level: wire.LogDebug, Message: "now heard"})
	expectMessages(`"data":{"message":"now heard"}`)
	p.sendMessage(fmt.Sprintf(setLevelRequest, "loud"))
	if m := p.mustReadMessage(); m.Error == nil {
		t.Error(m.messageJSON)
	}
}
