package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"opentabs/internal/mcpclient"
	"opentabs/internal/plaintext"
	"opentabs/internal/usererr"
	"opentabs/wire"
)

func TestInvalidRequestsAreRejected(t *testing.T) {
	for want, o := range map[string]Request{
		`--output is "xml"`:                    {Output: "xml"},
		"--arg and --input are both given":     {Output: "json", Args: []string{"a=1"}, HasInput: true},
		"--tab is -1: give it the id of a tab": {Output: "text", Tab: -1},
	} {
		var userErr *usererr.Error
		if err := o.Check(); !errors.As(err, &userErr) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Check of the request %+v returned %v, want the user error %q", o, err, want)
		}
	}
	if err := (Request{Output: "json", HasInput: true}).Check(); err != nil {
		t.Error(err)
	}
}

func TestFindTool(t *testing.T) {
	var manyTools []mcpclient.Tool
	for n := range 21 {
		manyTools = append(manyTools, mcpclient.Tool{Name: fmt.Sprintf("a__t%d", n)})
	}
	for want, tools := range map[string][]mcpclient.Tool{
		`there is no tool "a__echo", and no other tool is on: `:                      nil,
		`there is no tool "a__echo" (did you mean a__ech?): use one of a__ech, b__x`: {{Name: "a__ech"}, {Name: "b__x"}},
		"there is no tool \"a__echo\": `opentabs tools` lists the tools":             manyTools,
	} {
		if _, err := findTool(tools, "a__echo"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("findTool of an unknown tool returned %v, want %s", err, want)
		}
	}
	if tool, err := findTool(manyTools, "a__t7"); err != nil || tool.Name != "a__t7" {
		t.Errorf("findTool = %+v, error %v; want %q", tool, err, "a__t7")
	}
}

func decodeContent(t *testing.T, contentJSON string) mcpclient.Result {
	t.Helper()
	var r mcpclient.Result
	if err := json.Unmarshal([]byte(contentJSON), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPrintResult(t *testing.T) {
	for _, c := range []struct{ result, asJSON, wantText string }{
		{`{"content":[{"type":"text","text":"{\"n\": 9007199254740993}"}]}`, `{"n":9007199254740993}`, `{"n": 9007199254740993}`},
		{`{"content":[{"type":"text","text":"two\nlines"}]}`, `"two\nlines"`, "two\nlines"},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`, `{"a":1}`, `{"a":1}`},
		{`{"content":[],"structuredContent":{"a":1}}`, `{"a":1}`, `{"a":1}`},
		{`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`, `{"type":"image","mimeType":"image/png","data":"AAAA"}`, "[image image/png, 53 characters; see --output json]"},
		{`{"content":[{"type":"text","text":"one"},{"type":"text","text":"{\"n\": 2}"}]}`, "[\n\"one\",\n{\"n\":2}\n]", "one\n{\"n\": 2}"},
		{`{"content":[{"type":"text","text":"{}"},{"type":"image","data":"AA"}],"structuredContent":{"a":1}}`, "[\n{\"a\":1},\n{\"type\":\"image\",\"data\":\"AA\"}\n]", "{}\n[image, 28 characters; see --output json]"},
	} {
		for isTextOutput, want := range map[bool]string{false: c.asJSON, true: c.wantText} {
			var b bytes.Buffer
			if err := printResult(newTestPipe(&b), decodeContent(t, c.result), isTextOutput); err != nil || b.String() != want+"\n" {
				t.Errorf("printResult of %s wrote %q, error %v; want %q", c.result, b.String(), err, want+"\n")
			}
		}
	}
}

func TestPrintEmptyResult(t *testing.T) {
	var b bytes.Buffer
	if err := printResult(newTestPipe(&b), mcpclient.Result{}, false); err != nil || b.String() != "null\n" {
		t.Errorf("printResult of an empty result wrote %q and returned %v, want null", b.String(), err)
	}
}

func TestNewFailureFromResult(t *testing.T) {
	for _, c := range []struct {
		result, wantMessage string
		code                wire.ErrorCode
	}{
		{`{"content":[{"type":"text","text":"for the agent"}],"_meta":{"opentabs/error":{"code":"denied","for_user":"for the user"}}}`, "for the user", wire.ErrDenied},
		{`{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"_meta":{"opentabs/error":{"code":"tab_closed"}}}`, "one\ntwo", wire.ErrTabClosed},
		{`{"content":[],"_meta":{"opentabs/error":7}}`, "the tool failed without an error message", ""},
		{`{"content":[]}`, "the tool failed without an error message", ""},
	} {
		var f *Failure
		if err := readFailure(decodeContent(t, c.result)); !errors.As(err, &f) || f.Code != c.code || f.Error() != c.wantMessage {
			t.Errorf("readFailure of %s = %+v, want the code %q and the text %q", c.result, f, c.code, c.wantMessage)
		}
	}
}

// Control characters in a tool's error text must not reach the terminal.
func TestFailureTextIsEscaped(t *testing.T) {
	var b bytes.Buffer
	err := readFailure(mcpclient.Result{Content: []mcpclient.Content{{Type: "text", Text: "\x1b[2J\u202e\u2028x\U000e0049"}}})
	newTestPipe(&b).Notef("%s", err.Error())
	if r, found := plaintext.FindHiddenRune(strings.TrimSpace(b.String())); found {
		t.Errorf("the notice contains the hidden character %q in %q, want it escaped", r, b.String())
	}
}
