package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLargeResultIsSentOnce checks which clients receive a large result only as structured
// content.
func TestLargeResultIsSentOnce(t *testing.T) {
	largeResult := `{"text":"` + strings.Repeat("x", maxRepeatedTextBytes) + `"}`
	const structuredCapabilities = `{"experimental":{"opentabs/structuredOnly":{}}}`
	for _, c := range []struct {
		name, client, version, capabilities, output string
		wantText, wantStructured                    bool
	}{
		{"an unknown client gets both forms", "other", "1", `{}`, largeResult, true, true},
		{"a client that ignores the text", "claude-code", "2.1.280", `{}`, largeResult, false, true},
		{"an old version of the client", "claude-code", "1.0.0", `{}`, largeResult, true, true},
		{"a client that declares the capability", "other", "1", structuredCapabilities, largeResult, false, true},
		{"a small result", "other", "1", structuredCapabilities, `{"text":"x"}`, true, true},
		{"a result without structured content", "other", "1", structuredCapabilities, `["` + largeResult[9:len(largeResult)-1] + `]`, true, false},
		{"a result with a picture", "other", "1", structuredCapabilities,
			`{"text":"` + strings.Repeat("x", maxRepeatedTextBytes) + `","picture":{"type":"image","data":"aGk=","mimeType":"image/png"}}`, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serveTools(t, callerReturning(c.output), Options{})
			for _, cl := range []*client{
				s.openWithInitialize(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":%q,"version":%q}}}`,
					c.capabilities, c.client, c.version)),
				s.modernClient(t),
			} {
				meta := `{}`
				if cl.session == "" {
					meta = fmt.Sprintf(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":%q},"io.modelcontextprotocol/clientCapabilities":%s}`,
						c.client, c.version, c.capabilities)
				}
				checkTextAndStructured(t, cl, meta, c.wantText, c.wantStructured)
			}
		})
	}
}

func checkTextAndStructured(t *testing.T, c *client, meta string, wantText, wantStructured bool) {
	t.Helper()
	responseJSON := c.call(callText(`1`, `{}`, meta)).messageJSON
	var got struct {
		Result struct {
			Content           []json.RawMessage `json:"content"`
			StructuredContent json.RawMessage   `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(responseJSON), &got); err != nil {
		t.Fatal(err)
	}
	if hasText, hasData := len(got.Result.Content) > 0, got.Result.StructuredContent != nil; hasText != wantText || hasData != wantStructured || got.Result.Content == nil {
		t.Errorf("result with text: %v, with structured content: %v; want %v and %v: %.200s", hasText, hasData, wantText, wantStructured, responseJSON)
	}
}
