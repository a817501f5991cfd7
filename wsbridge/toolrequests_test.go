package wsbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

func (p *browserPeer) sendToolRequest(id, body string) {
	p.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.ask","params":{"dispatchId":%q,%s}}`, id, body)
}

const echoRequestJSON = `"call":{"tool":"echo","args":{"n":9007199254740993}}`

func nestedCallParams(n int) string { return fmt.Sprintf(`"ask":%d,%s`, n, echoRequestJSON) }

func toolRequestFrame(id string, n int) string {
	return fmt.Sprintf(`%s asks {"dispatchId":%[1]q,%s}`, id, nestedCallParams(n))
}

func answerText(id string, n int, extraMembersJSON string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s/answer/%d/%s","method":"tool.answer","params":{"dispatchId":%[2]q,"ask":%[1]d%[3]s}}`, n, id, extraMembersJSON)
}

func (p *browserPeer) confirmToolRequest(id string, n int, isExpected bool) {
	p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"s/answer/%d/%s","result":{"taken":%v}}`, n, id, isExpected)
}

func testWithRunningCall(t *testing.T, test func(w *hubFixture, p *browserPeer)) {
	t.Helper()
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		test(w, p)
	})
}

func TestToolRequestsAreCleanedAndAnswered(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		p.sendToolRequest("c1", nestedCallParams(1))
		p.sendToolRequest("c1", `"ask":2,"user":{"reason":"Log in\u001b[0m","title":"`+strings.Repeat("x", 300)+`"}`)
		w.wantEvents(toolRequestFrame("c1", 1), `c1 asks {"dispatchId":"c1","ask":2,"user":{"reason":"Log in[0m","title":"`+strings.Repeat("x", 199)+`…"}}`)
		w.hub.Answer("c1", 1, json.RawMessage(`{"text":"<b>"}`), nil)
		p.wantFrames(answerText("c1", 1, `,"output":{"text":"<b>"}`))
		w.hub.Answer("c1", 2, nil, &wire.CallError{Code: wire.ErrDenied, Message: "no"})
		p.wantFrames(answerText("c1", 2, `,"error":{"code":"denied","message":"no"}`))
		p.sendToolRequest("c1", nestedCallParams(3))
		w.hub.Answer("c1", 3, nil, nil)
		w.wantEvents(toolRequestFrame("c1", 3))
		w.hub.Answer("c1", 3, nil, nil)
	})
}

func TestToolRequestIsHandledOnce(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		p.sendToolRequest("c1", nestedCallParams(1))
		p.sendToolRequest("c1", nestedCallParams(1))
		w.wantEvents(toolRequestFrame("c1", 1))
		w.hub.Answer("c1", 1, json.RawMessage(`1`), nil)
		w.hub.Answer("c1", 1, json.RawMessage(`2`), nil)
		p.wantFrames(answerText("c1", 1, `,"output":1`))
		p.confirmToolRequest("c1", 1, false)
		p.sendToolRequest("c1", nestedCallParams(1))
		p.wantFrames(answerText("c1", 1, `,"output":1`))
		p.confirmToolRequest("c1", 1, true)
		p.sendToolRequest("c1", nestedCallParams(1))
		w.hub.Answer("c1", 1, json.RawMessage(`3`), nil)
		p.wantFrames()
		w.wantEvents()
	})
}

func TestAnswerIsSentAfterReconnect(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		p.sendToolRequest("c1", nestedCallParams(1))
		p.sendToolRequest("c1", nestedCallParams(2))
		w.readEvents()
		w.hub.Answer("c1", 1, json.RawMessage(`1`), nil)
		p.closeAbruptly()
		w.hub.Answer("c1", 2, json.RawMessage(`2`), nil)
		p = w.connectBrowser("b1", "boot1")
		p.readFrames()
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		p.sendToolRequest("c1", nestedCallParams(1))
		p.sendToolRequest("c1", nestedCallParams(2))
		p.wantFrames(answerText("c1", 1, `,"output":1`), answerText("c1", 2, `,"output":2`))
		p.sendToolRequest("c1", nestedCallParams(1))
		p.wantFrames(answerText("c1", 1, `,"output":1`))
		p.confirmToolRequest("c1", 1, true)
		p.confirmToolRequest("c1", 2, true)
		p.closeAbruptly()
		p = w.connectBrowser("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		for _, frame := range p.readFrames() {
			if strings.Contains(frame, "tool.answer") {
				t.Errorf("the hub sent a confirmed answer again: %s; want no tool.answer", frame)
			}
		}
		w.wantEvents()
	})
}

func TestToolRequestIsWithdrawnOnce(t *testing.T) {
	const withdrawnFields = `"ask":%d,"withdrawn":true`
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		p.sendToolRequest("c1", nestedCallParams(1))
		p.sendToolRequest("c1", nestedCallParams(2))
		w.readEvents()
		p.sendToolRequest("c1", fmt.Sprintf(withdrawnFields, 1))
		p.sendToolRequest("c1", fmt.Sprintf(withdrawnFields, 1))
		w.wantEvents(`c1 asks {"dispatchId":"c1","ask":1,"withdrawn":true}`)
		w.hub.Answer("c1", 1, json.RawMessage(`1`), nil)
		p.wantFrames()
		w.hub.Answer("c1", 2, json.RawMessage(`2`), nil)
		p.readFrames()
		p.sendToolRequest("c1", fmt.Sprintf(withdrawnFields, 2))
		p.sendToolRequest("c1", fmt.Sprintf(withdrawnFields, 3))
		p.sendToolRequest("c1", nestedCallParams(2))
		p.sendToolRequest("c1", nestedCallParams(3))
		w.wantEvents()
		p.wantFrames()
	})
}

func TestToolRequestForAnotherBrowsersRun(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		otherPeer := w.connectBrowser("b2", "boot2")
		otherPeer.sendToolRequest("c1", nestedCallParams(1))
		otherPeer.sendToolRequest("c9", nestedCallParams(1))
		w.wantEvents()
		otherPeer.wantFrames()
		p.sendToolRequest("c1", nestedCallParams(1))
		w.wantEvents(toolRequestFrame("c1", 1))
		w.hub.Answer("c1", 1, json.RawMessage(`1`), nil)
		p.readFrames()
		otherPeer.confirmToolRequest("c1", 1, true)
		w.readEvents()
		p.sendToolRequest("c1", nestedCallParams(1))
		p.wantFrames(answerText("c1", 1, `,"output":1`))
		p.respond("c1", "7")
		w.wantEvents("c1 returned 7")
		w.hub.Answer("c1", 1, json.RawMessage(`1`), nil)
		p.sendToolRequest("c1", nestedCallParams(2))
		w.wantEvents()
		p.wantFrames()
	})
}

func TestToolRequestsAreLimited(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		for n := range 5 * maxOpenRequests {
			p.sendToolRequest("c1", nestedCallParams(n+1))
		}
		if got := w.readEvents(); len(got) != maxOpenRequests {
			t.Errorf("the hub accepted %d requests of the tool, want %d", len(got), maxOpenRequests)
		}
		refusalFrame := answerText("c1", maxOpenRequests+1, `,"error":{"code":"nested_too_deep","message":"a call may have at most 64 unanswered requests at once"}`)
		if got := p.readFrames(); len(got) != 4*maxOpenRequests || got[0] != refusalFrame {
			t.Errorf("the hub rejected %d requests, the first with %q; want %d and %q", len(got), got[:min(1, len(got))], 4*maxOpenRequests, refusalFrame)
		}
		for n := range maxOpenRequests {
			w.hub.Answer("c1", n+1, nil, nil)
		}
		p.readFrames()
		p.sendToolRequest("c1", nestedCallParams(2*maxOpenRequests))
		w.wantEvents()
		p.readFrames()
		for n := range maxRequestsPerCall {
			p.confirmToolRequest("c1", n+1, true)
			p.sendToolRequest("c1", nestedCallParams(n+1))
			w.readEvents()
			w.hub.Answer("c1", n+1, nil, nil)
		}
		p.readFrames()
		p.sendToolRequest("c1", nestedCallParams(maxRequestsPerCall+1))
		p.wantFrames(answerText("c1", maxRequestsPerCall+1, `,"error":{"code":"nested_too_deep","message":"a call may send at most 1000 requests in total"}`))
		w.wantEvents()
		p.respond("c1", "7")
		w.wantEvents("c1 returned 7")
	})
}

func TestLargeAnswersAreLimited(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		largeAnswer := json.RawMessage(`"` + strings.Repeat("x", wire.MaxAnswerBytes-2) + `"`)
		for n := range 6 {
			p.sendToolRequest("c1", nestedCallParams(n+1))
		}
		w.readEvents()
		w.hub.Answer("c1", 1, append(bytes.Clone(largeAnswer), ' '), nil)
		p.wantFrames(answerText("c1", 1, `,"error":{"code":"result_too_large","message":"the result is larger than 16777216 bytes"}`))
		for n := range 4 {
			w.hub.Answer("c1", n+2, largeAnswer, nil)
		}
		got := p.readFrames()
		if len(got) != 4 || len(got[0]) < len(largeAnswer) || !strings.Contains(got[3], `"code":"result_too_large"`) {
			t.Errorf("the browser received %d answers, the last with %d bytes; want the fourth answer rejected", len(got), len(got[len(got)-1]))
		}
		p.confirmToolRequest("c1", 2, true)
		w.readEvents()
		w.hub.Answer("c1", 6, largeAnswer, nil)
		if got := p.readFrames(); len(got) != 1 || len(got[0]) < len(largeAnswer) {
			t.Error("the hub did not send the answer although the limit allows it again, want one large answer")
		}
	})
}

func TestInvalidToolRequestsAreIgnored(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		for _, body := range []string{
			`"ask":1`, `"ask":0,` + echoRequestJSON, `"ask":-1,` + echoRequestJSON, `"ask":1.5,` + echoRequestJSON, `"ask":"1",` + echoRequestJSON, `"ask":1e99,` + echoRequestJSON,
			nestedCallParams(1) + `,"withdrawn":true`, nestedCallParams(1) + `,"user":{"reason":"r"}`, `"ask":1,"call":7`, `"ask":1,"user":[]`,
		} {
			p.sendToolRequest("c1", body)
		}
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"tool.ask","params":{"dispatchId":"c1",` + nestedCallParams(1) + `}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"tool.ask is a notification; send it without an id"}}`)
		for i, args := range []string{`,"args":7`, `,"args":null`, ``, `,"args":["{"]`} {
			p.sendToolRequest("c1", fmt.Sprintf(`"ask":%d,"call":{"tool":"echo"%s}`, i+1, args))
			p.wantFrames(answerText("c1", i+1, `,"error":{"code":"invalid_arguments","message":"the arguments are not an object; pass an object to context.call"}`))
		}
		for _, id := range []string{"s/answer/1", "s/answer/x/c1", "s/answer/99999999999999999999/c1", "s/answer//"} {
			p.sendFormattedFrame(`{"jsonrpc":"2.0","id":%q,"result":{"taken":true}}`, id)
		}
		w.wantEvents()
		p.sendToolRequest("c1", nestedCallParams(1))
		w.wantEvents(toolRequestFrame("c1", 1))
	})
}

func TestActivityResyncRequestsReachBrowser(t *testing.T) {
	const frame = `{"jsonrpc":"2.0","method":"tool.resync","params":{"dispatchId":"c1","activityType":"table"}}`
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		w.hub.RequestActivityResync("c1", "table")
		w.hub.RequestActivityResync("c9", "table")
		p.wantFrames(frame)
		p.closeAbruptly()
		for range 2 * wire.MaxActivityTypes {
			w.hub.RequestActivityResync("c1", "table")
		}
		p = w.connectBrowser("b1", "boot1")
		p.readFrames()
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		if got := p.readFrames(); len(got) != wire.MaxActivityTypes || got[0] != frame {
			t.Errorf("frames that the browser received = %q, want one for each activity type", got)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		p.wantFrames()
	})
}

// After a reconnect, the hub does not resend a call that the browser has confirmed, and the call
// does not fail with link_lost.
func TestToolRequestConfirmsRun(t *testing.T) {
	testWithRunningCall(t, func(w *hubFixture, p *browserPeer) {
		p.sendToolRequest("c1", nestedCallParams(1))
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, emptySyncFrame)
		p.sendToolRequest("c1", nestedCallParams(2))
		w.advanceTime(defaultGracePeriod)
		w.wantEvents(toolRequestFrame("c1", 1), toolRequestFrame("c1", 2))
	})
}

func TestEncodeDispatchFrame(t *testing.T) {
	toolRun := dispatch.Run{
		ID: "c1", Plugin: "chat", Tool: "summarise", Prompt: true, Args: json.RawMessage(`{"n":1}`),
		Decision: json.RawMessage(`{"allow":true}`), MaxResultBytes: 7, Target: dispatch.Target{TabID: 7, DocumentID: "d7"},
	}
	params := wire.EncodeBody(wire.ToolDispatchParams{
		DispatchID: "c1", Plugin: "chat", Tool: "summarise", TabID: 7, DocumentID: "d7", MaxResultBytes: 7, IsResent: true,
		Prompt: true, Decision: toolRun.Decision, Args: toolRun.Args,
	})
	if got, want := encodeRun(&toolRun, true), wire.AppendRequest(nil, "c1", wire.MethodToolDispatch, params); !bytes.Equal(got, want) {
		t.Errorf("frame with the answer:\n got %s\nwant %s", got, want)
	}
}
