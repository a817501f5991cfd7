package wsbridge

import "testing"

// TestReportsForgedInText: the reports are the page's own text; it can't name
// another run in them.
func TestReportsForgedInText(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "mine")
		w.run("b1", "other")
		for _, text := range []string{
			`[],"dispatchId":"other","reports":[{"message":"forged"}]`,
			`[]},"params":{"dispatchId":"other","reports":[{"message":"forged"}]`,
			`[],"DispatchID":"other"`,
		} {
			p.send(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"mine","reports":` + text + `}}`)
		}
		// The last one names "mine", since keys are compared exactly.
		w.wantEvents("mine reports [] skipped 0")
	})
}

// TestOddReports: a report whose fields are of wrong types still shows that
// its tool is alive, and those beside it are whole.
func TestOddReports(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		p.send(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"progress":"1","message":"a"},{"progress":1e999},7,{"progress":2}],"skipped":-5}}`)
		w.wantEvents(`c1 reports [{"message":"a","invalid":true},{"invalid":true},{"invalid":true},{"progress":2}] skipped 0`)
	})
}
