package mcpserver

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/goldentest"
)

// TestInitializeAndListResponses checks the answers to initialize and to list requests, with and without
// sessions.
func TestInitializeAndListResponses(t *testing.T) {
	d, _, _ := runningCall(t)
	s := serveTools(t, d, Options{Version: "1.2.3", CallWatcher: d}, promptPackage)
	session := s.open(t, "a")
	var b strings.Builder
	b.WriteString(s.sessionlessClient(t).call(initializeText("b")).messageJSON + "\n")
	for _, method := range []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		listRequest := `{"jsonrpc":"2.0","id":1,"method":"` + method + `"`
		b.WriteString(method + "\n" + session.call(listRequest+"}").messageJSON + "\n")
		modernClient := s.modernClient(t)
		modernClient.headers.Set("Mcp-Method", method)
		modernClient.headers.Del("Mcp-Name")
		b.WriteString(modernClient.call(listRequest+`,"params":{"_meta":`+modernMeta+`}}`).messageJSON + "\n")
	}
	goldentest.Compare(t, "testdata/lists.txt", []byte(b.String()))
}

// TestMCPGoHasNoRegistrations checks that mcp-go has no tool, prompt or
// resource, so that mcp-go never runs a call.
func TestMCPGoHasNoRegistrations(t *testing.T) {
	d, _, _ := runningCall(t)
	s := serveTools(t, d, Options{CallWatcher: d}, promptPackage)
	for method, params := range map[string]string{
		"tools/call": `{"name":"messages__echo"}`, "prompts/get": `{"name":"messages__plain"}`, "resources/read": `{"uri":"opentabs://calls"}`,
	} {
		response := s.catalog.library.HandleMessage(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
		if e, ok := response.(mcp.JSONRPCError); !ok || !strings.Contains(e.Error.Message, "not found") {
			t.Errorf("answer of mcp-go to %s = %+v; want the error \"not found\"", method, response)
		}
	}
}
