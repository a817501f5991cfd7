package wsbridge

import (
	"strings"
	"testing"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

func TestToolAnswersBecomeResults(t *testing.T) {
	const invalidResultText = "failed internal: the browser's answer is not a result"
	tests := []struct{ body, want string }{
		{`"result":{"output":{"a":[1,2.50,"\u00fc"]}}`, `returned {"a":[1,2.50,"\u00fc"]}`},
		{`"result":{"output":null}`, "returned null"},
		{`"result":{}`, "returned undefined"},
		{`"result":{"parts":0}`, "returned undefined"},
		{`"result":[]`, invalidResultText},
		{`"result":null`, invalidResultText},
		{`"result":{"parts":"3"}`, invalidResultText},
		{`"result":{"output":1,"output":2}`, invalidResultText},
		{`"result":{"output":1,"parts":1}`, "failed internal: the browser's answer has both a whole result and parts"},
		{`"result":{"parts":2}`, "failed internal: 0 of 2 parts of the result arrived"},
		{`"result":{"output":` + strings.Repeat(" ", 0) + `"` + strings.Repeat("x", 100) + `"}`, "failed result_too_large: the result is larger than 100 bytes"},
		{`"error":{"code":-32000,"message":"m","data":{"code":"tab_closed","message":"the tab was closed"}}`, "failed tab_closed: the tab was closed"},
		{`"error":{"code":-32000,"message":"m","data":{"code":"made_up","message":"hm"}}`, "failed internal: hm"},
		{`"error":{"code":-32000,"message":"m","data":{"code":"not_ready","message":""}}`, "failed not_ready: the browser gave no reason"},
		{`"error":{"code":-32601,"message":"unknown method"}`, "failed internal: the browser rejected the call (-32601): unknown method"},
		{`"error":{"code":-32000,"message":"m","data":{"code":"tool_error","message":"a\u001b[2Jb\u0000\n\u202ec\u009b","tool":{"code":"X\u0007","category":"auth","retryable":true,"retryAfterMs":1500}}}`,
			"failed tool_error: a[2Jb\nc " + `{"code":"X","category":"auth","retryable":true,"retryAfterMs":1500}`},
		{`"error":{"code":-32000,"message":"m","data":{"code":"tool_error","message":"x","tool":{"code":"","retryable":false,"retryAfterMs":-1}}}`,
			`failed tool_error: x {"code":"","retryable":false}`},
		{`"error":{"code":-32000,"message":"m","data":{"code":"tab_closed","message":"x","tool":{"code":"X","retryable":true}}}`, "failed tab_closed: x"},
		// A result that is not JSON makes the whole frame malformed, but the hub can
		// still read the call's ID.
		{`"result":{"output":{bad}}`, "failed invalid_result: the tool's result is not valid JSON"},
		{`"result":{"output":1},"id":"c2"`, "failed invalid_result: the tool's result is not valid JSON"},
	}
	for _, tt := range tests {
		testWithHub(t, Options{}, func(w *hubFixture) {
			p := w.connectBrowser("b1", "boot1")
			for _, id := range []string{"c1", "c2"} {
				if err := w.startTestRun("b1", id, 100); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				p.sendFrame(`{"jsonrpc":"2.0","id":"c1",` + tt.body + `}`)
			}
			w.wantEvents("c1 " + tt.want)
			if got := w.hub.Browsers()[0].RunCount; got != 1 {
				t.Errorf("the browser has %d unfinished runs, want 1", got)
			}
			w.cancel("c2")
			p.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c2","result":{"outcome":"aborted"}}`)
			w.wantEvents("c2 stopped: aborted")
		})
	}
}

func TestLongErrorIsTruncated(t *testing.T) {
	err := inbound.ToCallError(&wire.RPCError{Data: &wire.CallError{Code: wire.ErrToolError, Message: strings.Repeat("é", 2*4000)}})
	if n := len([]rune(err.Message)); n != 4000 {
		t.Errorf("the error text has %d characters, want %d", n, 4000)
	}
}
