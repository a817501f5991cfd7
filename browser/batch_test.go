package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// The steps of a batch run one after the other, each with its own gates, and the batch
// stops at the first step that fails.
func TestBatch(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	f.output = `{"text":"Done.","tabId":7}`
	got := f.wantRun(0, "claude", "browser_batch", `{"steps":[{"tool":"browser_tabs","args":{"action":"new"}},{"tool":"browser_click","args":{"target":"e1"}},{"tool":"browser_click","args":{"target":"e2","tabId":9}}]}`)
	if want := "step 1 of 3, browser_tabs: Done.\nstep 2 of 3, browser_click: Done.\nstep 3 of 3, browser_click: Done."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(f.runs) != 3 || f.runs[1].Target.TabID != 7 || f.runs[2].Target.TabID != 9 || !strings.HasPrefix(string(f.runs[2].Args), `{"target":"e2","_frames":`) {
		t.Errorf("ran %+v", f.runs)
	}
	f.runs = nil
	_, err := f.call("claude", "browser_batch", `{"steps":[{"tool":"browser_click","args":{"target":"e1"}},{"tool":"browser_navigate","args":{"url":"file:///x"}},{"tool":"browser_click","args":{"target":"e1"}}]}`)
	if err == nil || len(f.runs) != 1 {
		t.Fatalf("%d steps ran in the browser, %v", len(f.runs), err)
	}
	for _, want := range []string{"step 1 of 3, browser_click: Done.", "step 2 of 3, browser_navigate: browser_navigate failed", "no step after step 2 was run", "invalid_arguments"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// No step is another tool than a browser tool, and a denied step ends the batch.
func TestBatchGetsAroundNothing(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteRead, "x"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{`{"tool":"messages__export"}`, `{"tool":"browser_batch","args":{"steps":[]}}`, `{"tool":"browser_click","args":{"target":"e1","tabId":7}}`} {
		if text, err := f.call("claude", "browser_batch", `{"steps":[`+step+`]}`); err == nil || len(f.runs) != 0 {
			t.Errorf("%s: got %q, %d runs", step, text, len(f.runs))
		}
	}
}

// A cancelled batch starts no further step.
func TestBatchIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		failed := make(chan error)
		go func() {
			_, err := f.calls.Call(t.Context(), dispatch.Call{
				Tool: f.tool("browser_batch"), Args: json.RawMessage(`{"steps":[{"tool":"browser_click","args":{"target":"e1","tabId":7}}]}`),
				Client: dispatch.Client{Session: "claude", Name: "claude"},
			})
			failed <- err
		}()
		time.Sleep(time.Second) // the step waits for approval
		for _, c := range f.calls.Calls() {
			if c.Tool == "browser_batch" && !f.calls.Cancel(c.CallID, "the side panel", "") {
				t.Error("the batch can't be cancelled")
			}
		}
		if err := <-failed; err == nil || !strings.Contains(err.Error(), string(wire.ErrCancelled)) {
			t.Errorf("the batch ended with %v", err)
		}
		synctest.Wait()
		for _, c := range f.calls.Calls() {
			if c.Ended == nil {
				t.Errorf("%s is still %s", c.ToolName, c.Status)
			}
		}
	})
}

// Only visible regular files in the allowed folders are uploaded, and the browser
// receives their content, not their path.
func TestUploads(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAsk, "x"); err != nil {
		t.Fatal(err)
	}
	f.answer = dispatch.Resolution{Allow: true, Surface: "x"}
	outside := filepath.Join(t.TempDir(), "secret.txt")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(f.uploads, name) }
	write(outside, "secret")
	write(in("docs/bill.txt"), "hello")
	write(in(".ssh/id"), "key")
	if err := os.Symlink(outside, in("link.txt")); err != nil {
		t.Fatal(err)
	}
	args := func(path string) string {
		text, _ := json.Marshal(map[string]any{"paths": []string{path}, "target": "e1", "files": "forged"})
		return string(text)
	}
	f.wantRun(1, "claude", "browser_file_upload", args(in("docs/bill.txt")))
	if want := "with the files " + in("docs/bill.txt"); !strings.Contains(f.asked[0], want) {
		t.Errorf("asked %q, want %q in it", f.asked[0], want)
	}
	got, _, _ := strings.Cut(string(f.runs[0].Args), `,"_frames":`)
	if want := `{"target":"e1","files":[{"name":"bill.txt","mimeType":"text/plain; charset=utf-8","data":"aGVsbG8="}]`; got != want {
		t.Errorf("the browser got %s, want %s", got, want)
	}
	for path, part := range map[string]string{
		outside:                              "is in no folder that the user allows for uploads",
		in("../secret.txt"):                  "is in no folder",
		f.uploads + "/docs/../../secret.txt": "is in no folder",
		"docs/bill.txt":                      "is in no folder",
		in(".ssh/id"):                        "hidden files are never uploaded",
		in("link.txt"):                       "can't be uploaded",
		in("docs"):                           "it is not a regular file",
		in("missing.txt"):                    "can't be uploaded",
	} {
		f.wantError(wire.ErrDenied, part, "claude", "browser_file_upload", args(path))
	}
}
