package wsbridge

import (
	"strings"
	"testing"

	"opentabs/wire"
)

func TestForgedDispatchIDsAreIgnored(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "mine")
		w.run("b1", "other")
		for _, reportJSON := range []string{
			`[],"dispatchId":"other","reports":[{"message":"forged"}]`,
			`[]},"params":{"dispatchId":"other","reports":[{"message":"forged"}]`,
			`[],"DispatchID":"other"`,
		} {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"mine","reports":` + reportJSON + `}}`)
		}
		// The notification with the key "DispatchID" belongs to the call "mine", because
		// JSON keys are case-sensitive: "DispatchID" is not "dispatchId".
		w.wantEvents("mine reports [] skipped 0")
	})
}

func TestMalformedReportsAreMarkedInvalid(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"progress":"1","message":"a"},{"progress":1e999},7,{"progress":2}],"skipped":-5}}`)
		w.wantEvents(`c1 reports [{"message":"a","invalid":true},{"invalid":true},{"invalid":true},{"progress":2}] skipped 0`)
	})
}

func TestMalformedReportsKeepTheirActivities(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[` +
			`{"progress":"1","activity":{"type":"te\u001bxt","content":{"n":9007199254740993}},"endAudience":"us\u001ber"},` +
			`{"message":"m","activity":7},{"activity":{"type":"table","patch":[{"op":"remove","path":"/0"}]}}]}}`)
		w.wantEvents(`c1 reports [{"invalid":true,"activity":{"type":"text","content":{"n":9007199254740993}},"endAudience":"user"},` +
			`{"message":"m","invalid":true},{"activity":{"type":"table","patch":[{"op":"remove","path":"/0"}]}}] skipped 0`)
	})
}

// Control characters must be removed from the texts of progress reports, because clients show the texts in a terminal.
func TestControlCharsAreRemovedFromReports(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		const unsafeText = `a\u001b[31m\u0007\u009b\u202e\u2066\u200f\u0000\udb40\udc41\udb40\udd00\ufe00\u200b\r\n\tb\u00e9`
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"message":"` + unsafeText + `","status":"` + unsafeText + `","audience":"user\u001b"}]}}`)
		w.wantEvents(`c1 reports [{"message":"a[31m\n\tbé","status":"a[31m\n\tbé","audience":"user"}] skipped 0`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"progress":"x","message":"` + unsafeText + `"}]}}`)
		w.wantEvents(`c1 reports [{"message":"a[31m\n\tbé","invalid":true}] skipped 0`)
		longText := strings.Repeat("\u00e9", wire.MaxMessageChars)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"message":"` + longText + `"}]}}`)
		w.wantEvents(`c1 reports [{"message":"` + longText + `"}] skipped 0`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"message":"` + longText + `x"}]}}`)
		w.wantEvents(`c1 reports [{"message":"` + longText[2:] + `…"}] skipped 0`)
	})
}

func TestReportsAreForwardedOnce(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		sendFrame := func(seq, skippedCount int, messages ...string) {
			var reports []string
			for _, m := range messages {
				reports = append(reports, `{"message":"`+m+`"}`)
			}
			p.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","seq":%d,"reports":[%s],"skipped":%d}}`,
				seq, strings.Join(reports, ","), skippedCount)
		}
		sendFrame(0, 2, "a", "b")
		w.wantEvents(`c1 reports [{"message":"a"},{"message":"b"}] skipped 2`)
		p.closeAbruptly()
		p = w.connectBrowser("b1", "boot1")
		sendFrame(0, 2, "a", "b")
		sendFrame(1, 0, "b", "c")
		sendFrame(3, 1, "d")
		w.wantEvents(`c1 reports [{"message":"c"}] skipped 0`, `c1 reports [{"message":"d"}] skipped 1`)
		sendFrame(7, 0, "h")
		sendFrame(-1, 0, "z")
		sendFrame(8, 0)
		w.wantEvents(`c1 reports [{"message":"h"}] skipped 3`, `c1 reports [] skipped 0`)
	})
}
