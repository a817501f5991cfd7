package wsbridge

import (
	"encoding/json"
	"strings"
	"testing"
)

func (p *browserPeer) sendPart(id string, seq int, chunk string) {
	q, err := json.Marshal(chunk)
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.sendRawPart(id, seq, string(q))
}

func (p *browserPeer) sendRawPart(id string, seq int, chunk string) {
	p.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":%q,"seq":%d,"text":%s}}`, id, seq, chunk)
}

func TestResultPartsAreJoined(t *testing.T) {
	type part struct {
		seq   int
		chunk string
	}
	tests := []struct {
		name        string
		resultParts []part
		count       int
		want        string
	}{
		{"parts in order", []part{{0, `{"a":`}, {1, `[1,`}, {2, `2]}`}}, 3, `returned {"a":[1,2]}`},
		{"parts sent again after a reconnect", []part{{0, `{"a":`}, {1, `1`}, {0, `{"a":`}, {1, `1`}, {2, `}`}}, 3, `returned {"a":1}`},
		{"a part is missing", []part{{0, `{"a":`}, {2, `}`}}, 3, "failed internal: 1 of 3 parts of the result arrived"},
		{"one part too many", []part{{0, `1`}, {1, `2`}}, 1, "failed internal: 2 of 1 parts of the result arrived"},
		{"a part with a negative number", []part{{-1, `1`}}, 1, "failed internal: 0 of 1 parts of the result arrived"},
		{"parts that are not JSON together", []part{{0, `{"a":`}, {1, `1`}}, 2, "failed invalid_result: the tool's result is not valid JSON"},
		{"a result of the maximum size", []part{{0, `"` + strings.Repeat("x", 98)}, {1, `"`}}, 2, `returned "` + strings.Repeat("x", 98) + `"`},
		{"empty parts", []part{{0, ``}, {1, `1`}, {2, ``}}, 3, `returned 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testWithHub(t, Options{}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				if err := w.startTestRun("b1", "c1", 100); err != nil {
					t.Fatal(err)
				}
				for _, resultPart := range tt.resultParts {
					p.sendPart("c1", resultPart.seq, resultPart.chunk)
				}
				w.wantEvents()
				p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"c1","result":{"parts":%d}}`, tt.count)
				w.wantEvents("c1 " + tt.want)
			})
		})
	}
}

func TestHubReportsEachNewPartToTheSink(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		if err := w.startTestRun("b1", "c1", 100); err != nil {
			t.Fatal(err)
		}
		for _, seq := range []int{0, 1, 0, 3, 2} { // the hub drops the second part 0, and part 3, which arrives too early
			p.sendPart("c1", seq, "1")
		}
		p.readFrames()
		w.wantEvents()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.receivedParts != 3 {
			t.Errorf("the sink received %d parts, want 3", w.receivedParts)
		}
	})
}

func TestTooLargeResultPartsFailCall(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		if err := w.startTestRun("b1", "c1", 100); err != nil {
			t.Fatal(err)
		}
		p.readFrames()
		p.sendPart("c1", 0, strings.Repeat("x", 100))
		w.wantEvents()
		p.sendPart("c1", 1, "x")
		w.wantEvents("c1 failed result_too_large: the result is larger than 100 bytes")
		p.wantFrames(newCancelFrame("c1", "the result is too large"))
		p.sendPart("c1", 2, "x")
		p.sendFrame(`{"jsonrpc":"2.0","id":"c1","result":{"parts":3}}`)
		w.wantEvents()
	})
}

func TestResultSplitInsideCharacter(t *testing.T) {
	tests := []struct {
		textParts []string
		want      string
	}{
		{[]string{`"\"a\ud83d"`, `"\ude00b\""`}, `"a😀b"`},
		{[]string{`"\"\uD83D"`, `"\uDE00\uD83D"`, `"\uDE00\""`}, `"😀😀"`},
		{[]string{`"\"\ud83d"`, `"x\""`}, "\"\ufffdx\""},
		{[]string{`"\"\ud83d"`, `""`, `"\ude00\""`}, `"😀"`},
		// In the following JSON text, a backslash is escaped before "ud83d", so "\\ud83d"
		// is plain text and not half of a surrogate pair.
		{[]string{`"\"\\ud83d"`, `"\\ude00\""`}, `"\ud83d\ude00"`},
		{[]string{`"\"\\\\\\ud83d"`, `"\\ude00\""`}, `"\\\ud83d\ude00"`},
	}
	for _, tt := range tests {
		testWithHub(t, Options{}, func(w *hubFixture) {
			p := w.connectBrowser("b1", "boot1")
			w.run("b1", "c1")
			for i, chunk := range tt.textParts {
				p.sendRawPart("c1", i, chunk)
			}
			p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"c1","result":{"parts":%d}}`, len(tt.textParts))
			w.wantEvents("c1 returned " + tt.want)
		})
	}
}
