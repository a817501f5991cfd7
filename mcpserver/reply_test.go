package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

func TestEncodeToolResults(t *testing.T) {
	for output, want := range map[string]string{
		`{"a":"<b>&\u2028","n":9007199254740993}`: `{"content":[{"type":"text","text":"{\"a\":\"<b>&\\u2028\",\"n\":9007199254740993}"}],"structuredContent":{"a":"<b>&\u2028","n":9007199254740993}}`,
		`{}`:                                 `{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`,
		`"plain\ntext \"q\" \ud83d\ude00 é"`: `{"content":[{"type":"text","text":"plain\ntext \"q\" \ud83d\ude00 é"}]}`,
		`""`:                                 `{"content":[{"type":"text","text":""}]}`,
		`[1,{"a":null}]`:                     `{"content":[{"type":"text","text":"[1,{\"a\":null}]"}]}`,
		`[]`:                                 `{"content":[{"type":"text","text":"[]"}]}`,
		`null`:                               `{"content":[{"type":"text","text":"null"}]}`,
		`true`:                               `{"content":[{"type":"text","text":"true"}]}`,
		`-0.5e3`:                             `{"content":[{"type":"text","text":"-0.5e3"}]}`,
		"{\n\t\"a\": 1\r\n}":                 `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
		"{\"a\":\t1}":                        `{"content":[{"type":"text","text":"{\"a\":\t1}"}],"structuredContent":{"a":` + "\t" + `1}}`,
		"{\"a\":\"\xff\"}":                   `{"content":[{"type":"text","text":"{\"a\":\"` + "\uFFFD" + `\"}"}],"structuredContent":{"a":"` + "\uFFFD" + `"}}`,
	} {
		got := encodeResult(t, newSuccessReply("", json.RawMessage(output)))
		if got != want {
			t.Errorf("MCP result for the output %s\n= %s\nwant %s", output, got, want)
		}
	}
	for _, emptyOutput := range []json.RawMessage{nil, {}, json.RawMessage(" ")} {
		if got := encodeResult(t, newSuccessReply("", emptyOutput)); got != `{"content":[]}` {
			t.Errorf("MCP result for the output undefined = %s; want %q", got, `{"content":[]}`)
		}
	}
}

func encodeResult(t *testing.T, r reply) string {
	t.Helper()
	replyText := writeReply(t, r)
	const replyPrefix = `{"jsonrpc":"2.0","id":1,"result":`
	if !strings.HasPrefix(replyText, replyPrefix) || strings.ContainsAny(replyText, "\r\n") || !json.Valid([]byte(replyText)) {
		t.Errorf("line from the server = %q; want valid JSON without line breaks", replyText)
	}
	return strings.TrimSuffix(strings.TrimPrefix(replyText, replyPrefix), "}")
}

func writeReply(t *testing.T, r reply) string {
	t.Helper()
	var b strings.Builder
	w := bufio.NewWriter(&b)
	transport.WriteAnswer(w, json.RawMessage(`1`), r, nil)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLargeResultIsCompleteDuringProgress(t *testing.T) {
	bigResult := `{"items":["` + strings.Repeat(`a \"quoted\" é line\n`, 150_000) + `"]}`
	caller := callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		for i := range 200 {
			c.Progress(dispatch.Progress{Progress: float64(i + 1)})
		}
		return dispatch.Result{Output: json.RawMessage(bigResult)}, nil
	})
	s := serveTools(t, caller, Options{})
	checkResult := func(m receivedMessage) {
		t.Helper()
		if res := m.toolResultOf(t); string(res.Structured) != bigResult || res.Content[0].Text != bigResult {
			t.Errorf("structured content of %d bytes; want the complete result of %d bytes", len(res.Structured), len(bigResult))
		}
	}
	msgs := s.open(t, "a").requestAndRead(callText(`1`, `{}`, `{"progressToken":1}`))
	checkResult(msgs[len(msgs)-1])
	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(callText(`1`, `{}`, `{"progressToken":1}`), callText(`2`, `{}`, `{"progressToken":2}`))
	for results := 0; results < 2; {
		if m := p.mustReadMessage(); m.Method == "" { // every line is a whole message
			checkResult(m)
			results++
		}
	}
}

func TestResultOfBrowserTool(t *testing.T) {
	output := `{"text":"Done.","image":{"data":"AAAA","mimeType":"image/png"},"file":{"uri":"opentabs://files/abc","name":"shop.har","mimeType":"application/json","size":10}}`
	want := `{"content":[{"type":"text","text":"Done."},{"type":"image","data":"AAAA","mimeType":"image/png"},` +
		`{"type":"resource_link","uri":"opentabs://files/abc","name":"shop.har","mimeType":"application/json","size":10}]}`
	if got := encodeResult(t, newBrowserReply(dispatch.Result{Output: json.RawMessage(output)})); got != want {
		t.Errorf("MCP result of a browser tool = %s\nwant %s", got, want)
	}
}
