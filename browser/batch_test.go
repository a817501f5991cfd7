package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"opentabs/internal/rawjson"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestBatchRunsStepsUntilFailure(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	f.output = `{"text":"Done.","tabId":7}`
	got := f.mustRun(0, "claude", "browser_batch", `{"steps":[{"tool":"browser_tabs","args":{"action":"new"}},{"tool":"browser_click","args":{"target":"e1"}},{"tool":"browser_click","args":{"target":"e2","tabId":9}}]}`)
	if want := "step 1 of 3, browser_tabs: Done.\nstep 2 of 3, browser_click: Done.\nstep 3 of 3, browser_click: Done."; got != want {
		t.Errorf("result of the batch:\n got %s\nwant %s", got, want)
	}
	if len(f.toolRuns) != 3 || f.toolRuns[1].Target.TabID != 7 || f.toolRuns[2].Target.TabID != 9 || !strings.HasPrefix(string(f.toolRuns[2].Args), `{"target":"e2","_frames":`) {
		t.Errorf("tools that ran in the browser = %+v, want three: the second in tab 7, the third in tab 9 with frame rules", f.toolRuns)
	}
	f.toolRuns = nil
	_, err := f.call("claude", "browser_batch", `{"steps":[{"tool":"browser_click","args":{"target":"e1"}},{"tool":"browser_navigate","args":{"url":"file:///x"}},{"tool":"browser_click","args":{"target":"e1"}}]}`)
	if err == nil || len(f.toolRuns) != 1 {
		t.Fatalf("%d steps ran in the browser, want 1; error of the batch = %v, want an error for step 2", len(f.toolRuns), err)
	}
	for _, want := range []string{"step 1 of 3, browser_click: Done.", "step 1 was run, so leave it out when you call again", "step 2 of 3, browser_navigate: browser_navigate failed", "no step after step 2 was run", "invalid_arguments"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error of the batch = %v, want a text that contains %q", err, want)
		}
	}
}

func TestFailedBatchReturnsEarlierResults(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	f.output = `{"text":"Done.","page":{"url":"https://shop.example/","title":"Shop"},"content":"heading Shop"}`
	_, err := f.calls.Call(t.Context(), dispatch.Call{
		Tool: f.tool(toolBatch), Client: dispatch.Client{Session: "claude", Name: "claude"},
		Args: json.RawMessage(`{"steps":[{"tool":"browser_snapshot","args":{"tabId":7}},{"tool":"browser_navigate","args":{"url":"file:///x","tabId":7}},{"tool":"browser_snapshot"}]}`),
	})
	var e *dispatch.Error
	if !errors.As(err, &e) {
		t.Fatalf("error of the failed batch = %v, want a *dispatch.Error", err)
	}
	if strings.Contains(e.Cause, "heading Shop") || !strings.Contains(e.PageText, "step 1 of 3, browser_snapshot: Done.\n--- text of https://shop.example") {
		t.Errorf("cause of a failed batch = %q, want no text of the page; page text = %q, want the result of step 1", e.Cause, e.PageText)
	}
	if !strings.HasPrefix(e.Message, "browser_batch failed: step 2 of 3, browser_navigate: ") || !strings.HasSuffix(e.Message, e.PageText) {
		t.Errorf("message of a failed batch = %q, want the failure of step 2, then the page text", e.Message)
	}
	if want := []wire.UntrustedPage{{Origin: "https://shop.example", TabID: 7}}; !slices.Equal(e.UntrustedPages, want) {
		t.Errorf("untrusted pages of the failed batch = %v, want %v", e.UntrustedPages, want)
	}
}

func TestBatchStepsPassTheGates(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteRead, "x"); err != nil {
		t.Fatal(err)
	}
	for _, stepJSON := range []string{`{"tool":"messages__export"}`, `{"tool":"browser_batch","args":{"steps":[]}}`, `{"tool":"browser_click","args":{"target":"e1","tabId":7}}`} {
		if output, err := f.call("claude", "browser_batch", `{"steps":[`+stepJSON+`]}`); err == nil || len(f.toolRuns) != 0 {
			t.Errorf("batch with the step %s: output = %q, %d tool runs; want an error and no runs", stepJSON, output, len(f.toolRuns))
		}
	}
}

func TestBatchIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		batchErrors := make(chan error)
		go func() {
			_, err := f.calls.Call(t.Context(), dispatch.Call{
				Tool: f.tool("browser_batch"), Args: json.RawMessage(`{"steps":[{"tool":"browser_click","args":{"target":"e1","tabId":7}}]}`),
				Client: dispatch.Client{Session: "claude", Name: "claude"},
			})
			batchErrors <- err
		}()
		time.Sleep(time.Second)
		for _, c := range f.calls.Calls() {
			if c.Tool == "browser_batch" && !f.calls.Cancel(c.CallID, "the side panel", "") {
				t.Error("Cancel returned false for the running batch, want true")
			}
		}
		if err := <-batchErrors; err == nil || !strings.Contains(err.Error(), string(wire.ErrCancelled)) {
			t.Errorf("error of the cancelled batch = %v, want %s", err, wire.ErrCancelled)
		}
		synctest.Wait()
		for _, c := range f.calls.Calls() {
			if c.Ended == nil {
				t.Errorf("status of the call of %s = %s, want the call to have ended with its batch", c.ToolName, c.Status)
			}
		}
	})
}

// For an upload, the browser must receive the content of the files, but not their paths.
func TestUploadSendsContentWithoutPaths(t *testing.T) {
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAsk, "x"); err != nil {
		t.Fatal(err)
	}
	f.decision = dispatch.Resolution{Allow: true, Surface: "x"}
	outsideFile := filepath.Join(t.TempDir(), "secret.txt")
	writeFileInHome := func(path, fileContent string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(f.uploadFolder, name) }
	writeFileInHome(outsideFile, "secret")
	writeFileInHome(in("docs/bill.txt"), "hello")
	writeFileInHome(in(".ssh/id"), "key")
	if err := os.Symlink(outsideFile, in("link.txt")); err != nil {
		t.Fatal(err)
	}
	args := func(path string) string {
		encodedJSON, _ := json.Marshal(map[string]any{"paths": []string{path}, "target": "e1", "files": "forged"})
		return string(encodedJSON)
	}
	f.mustRun(1, "claude", "browser_file_upload", args(in("docs/bill.txt")))
	if want := `claude wants to upload to https://shop.example: "` + in("docs/bill.txt") + `"`; f.approvalReasons[0] != want {
		t.Errorf("request for approval = %q, want %q", f.approvalReasons[0], want)
	}
	got, _, _ := strings.Cut(string(f.toolRuns[0].Args), `,"_frames":`)
	if want := `{"target":"e1","files":[{"name":"bill.txt","mimeType":"text/plain; charset=utf-8","data":"aGVsbG8="}]`; got != want {
		t.Errorf("arguments that the browser received = %s, want %s", got, want)
	}
	for path, textPart := range map[string]string{
		outsideFile:         "is in no folder that the user allows for uploads",
		in("../secret.txt"): "is in no folder",
		f.uploadFolder + "/docs/../../secret.txt": "is in no folder",
		"docs/bill.txt":   "is in no folder",
		in(".ssh/id"):     "hidden files are never uploaded",
		in("link.txt"):    "can't be uploaded",
		in("docs"):        "it is not a regular file",
		in("missing.txt"): "can't be uploaded",
	} {
		f.wantError(wire.ErrDenied, textPart, "claude", "browser_file_upload", args(path))
	}
}

func TestEachUploadNeedsApproval(t *testing.T) {
	f := newFixture(t)
	f.decision = dispatch.Resolution{Allow: true, Scope: wire.ScopeSession, Surface: "cli"}
	f.mustRun(1, "claude", "browser_click", `{"target":"e1"}`)
	var paths []string
	for i := range 20 {
		path := filepath.Join(f.uploadFolder, fmt.Sprintf("%s-%d.txt", strings.Repeat("long", 40), i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	args := string(rawjson.Encode(map[string]any{"paths": paths, "target": "e1"}))
	f.decision = allowOnce
	for range 2 {
		f.mustRun(1, "claude", "browser_file_upload", args)
		for _, path := range paths {
			if !strings.Contains(f.approvalReasons[0], strconv.Quote(path)) {
				t.Errorf("request for approval = %q, want a text that names the file %s", f.approvalReasons[0], path)
			}
		}
	}
	f.decision = dispatch.Resolution{Surface: "cli"}
	f.wantError(wire.ErrDenied, "the user denied it", "claude", "browser_file_upload", args)
	f.setRule("shop.example", policy.SiteAuto)
	f.mustRun(0, "claude", "browser_file_upload", args)
}

func TestBatchReturnsPictures(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	f.output = `{"text":"Taken.","page":{"url":"https://shop.example/"},"image":{"data":"AAAA","mimeType":"image/webp"}}`
	r, err := f.calls.Call(t.Context(), dispatch.Call{
		Tool: f.tool(toolBatch), Client: dispatch.Client{Session: "claude", Name: "claude"},
		Args: json.RawMessage(`{"steps":[{"tool":"browser_take_screenshot","args":{"tabId":7}},{"tool":"browser_take_screenshot","args":{"tabId":7}}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"image":{"data":"AAAA","mimeType":"image/webp"}},{"image":{"data":"AAAA","mimeType":"image/webp"}}]`
	if got := string(rawjson.Get(r.Output, "steps")); got != want {
		t.Errorf("pictures of the batch = %s, want %s", got, want)
	}
	if got, want := string(rawjson.Get(r.Output, "untrusted")), `{"origin":"https://shop.example","tab":7}`; got != want {
		t.Errorf("untrusted page of the batch = %s, want %s", got, want)
	}
}

func TestBatchNamesAllPages(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	f.setRule("news.example", policy.SiteAuto)
	f.beforeResult = func() {
		f.output = `{"text":"Done.","page":{"url":"https://news.example/","title":"News"},"content":"heading News"}`
		f.address = "https://news.example/"
	}
	r, err := f.calls.Call(t.Context(), dispatch.Call{
		Tool: f.tool(toolBatch), Client: dispatch.Client{Session: "claude", Name: "claude"},
		Args: json.RawMessage(`{"steps":[{"tool":"browser_snapshot","args":{"tabId":7}},{"tool":"browser_snapshot","args":{"tabId":9}},` +
			`{"tool":"browser_snapshot","args":{"tabId":9}},{"tool":"browser_snapshot","args":{"tabId":7}}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"origin":"https://shop.example","tab":7},{"origin":"https://news.example","tab":9},{"origin":"https://news.example","tab":7}]`
	if got := string(rawjson.Get(r.Output, "untrusted")); got != want {
		t.Errorf("untrusted pages of the batch = %s, want %s", got, want)
	}
}

func TestBatchRejectsInvalidSteps(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	for step, want := range map[string]string{
		`{"tool":"browser_snapshot","args":{"tabId":"9"}}`: `tabId is "9", but it must be the id of a tab, a positive integer`,
		`{"tool":"browser_snapshot","args":{"tabId":-1}}`:  "tabId is -1, but it must be",
		`{"tool":"browser_snapshot","args":{"tabId":1.5}}`: "tabId is 1.5, but it must be",
		`{"tool":"browser_clik","args":{}}`:                `"browser_clik" can't be a step: name another browser tool (did you mean browser_click?)`,
		`{"tool":"tools_call","args":{}}`:                  `"tools_call" can't be a step: name another browser tool`,
		`{"tool":"browser_batch","args":{}}`:               `"browser_batch" can't be a step`,
	} {
		f.wantError(wire.ErrInvalidArguments, want, "claude", "browser_batch", `{"steps":[`+step+`]}`)
	}
	// If any step of a batch has invalid arguments, no step of the batch runs.
	const act = `{"tool":"browser_click","args":{"target":"e1"}}`
	f.wantError(wire.ErrInvalidArguments, "step 2 of 2, browser_type: invalid arguments for browser_type:\n- /text: is missing", "claude", "browser_batch", `{"steps":[`+act+`,{"tool":"browser_type","args":{"target":"e2"}}]}`)
	f.wantError(wire.ErrInvalidArguments, "can't be a step: name another browser tool; no step was run", "claude", "browser_batch", `{"steps":[`+act+`,{"tool":"x","args":{}}]}`)
	f.mustRun(0, "claude", "browser_batch", `{"steps":[{"tool":"browser_snapshot","args":{"tabId":9}}]}`)
	if run := f.toolRuns[len(f.toolRuns)-1]; run.Target.TabID != 9 {
		t.Errorf("the step with tabId 9 ran in tab %d, want 9", run.Target.TabID)
	}
}

func TestBatchReportsProgress(t *testing.T) {
	f := newFixture(t)
	f.setRule("shop.example", policy.SiteAuto)
	var progressFractions []float64
	_, err := f.calls.Call(t.Context(), dispatch.Call{
		Tool: f.tool(toolBatch), TabID: 7, Client: dispatch.Client{Session: "claude", Name: "claude"},
		Args:     json.RawMessage(`{"steps":[{"tool":"browser_snapshot","args":{"tabId":7}},{"tool":"browser_snapshot","args":{"tabId":7}}]}`),
		Progress: func(p dispatch.Progress) { progressFractions = append(progressFractions, p.Progress/p.Total) },
	})
	if err != nil || len(progressFractions) == 0 || progressFractions[len(progressFractions)-1] != 1 {
		t.Errorf("progress of the batch = %v, error %v; want a last value of 1 and no error", progressFractions, err)
	}
}
