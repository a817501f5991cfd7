package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// methodTypes has a fresh value for each body of each method. Result is nil
// for a notification.
var methodTypes = map[Method]struct{ params, result func() any }{
	MethodChallenge:        {fresh[ChallengeParams], nil},
	MethodHello:            {fresh[HelloParams], fresh[HelloResult]},
	MethodPing:             {fresh[PingParams], fresh[PingResult]},
	MethodToolDispatch:     {fresh[ToolDispatchParams], fresh[ToolDispatchResult]},
	MethodToolCancel:       {fresh[ToolCancelParams], fresh[ToolCancelResult]},
	MethodToolProgress:     {fresh[ToolProgressParams], nil},
	MethodToolPart:         {fresh[ToolPartParams], nil},
	MethodToolResync:       {fresh[ToolResyncParams], nil},
	MethodToolAsk:          {fresh[ToolAskParams], nil},
	MethodToolAnswer:       {fresh[ToolAnswerParams], fresh[ToolAnswerResult]},
	MethodCallDecide:       {fresh[CallDecideParams], fresh[CallDecideResult]},
	MethodConfigPermission: {fresh[ConfigPermissionParams], fresh[ConfigPermissionResult]},
	MethodConfigReview:     {fresh[ConfigReviewParams], fresh[ConfigReviewResult]},
	MethodStatePlugins:     {fresh[StatePluginsParams], nil},
	MethodStateWaiting:     {fresh[StateWaitingParams], nil},
	MethodCallResumed:      {fresh[CallResumedParams], nil},
	MethodCallCancel:       {fresh[CallCancelParams], fresh[CallCancelResult]},
	MethodPluginSync:       {fresh[PluginSyncParams], fresh[PluginSyncResult]},
	MethodPluginCode:       {fresh[PluginCodeParams], fresh[PluginCodeResult]},
	MethodPluginFetch:      {fresh[PluginFetchParams], fresh[PluginFetchResult]},
	MethodTabSync:          {fresh[TabSyncParams], nil},
	MethodTabChanged:       {fresh[TabChangedParams], nil},
	MethodTabLoad:          {fresh[TabLoadParams], fresh[TabLoadResult]},
	MethodStateWatch:       {fresh[StateWatchParams], nil},
	MethodPluginSettings:   {fresh[PluginSettingsParams], fresh[PluginSettingsResult]},
	MethodPluginLog:        {fresh[PluginLogParams], nil},
	MethodTabOpen:          {fresh[TabOpenParams], fresh[TabOpenResult]},
	MethodConfigSettings:   {fresh[ConfigSettingsParams], fresh[ConfigSettingsResult]},
	MethodConfigOpening:    {fresh[ConfigOpeningParams], fresh[ConfigOpeningResult]},
	MethodConfigCalls:      {fresh[ConfigCallsParams], fresh[ConfigCallsResult]},
	MethodConfigLateAccess: {fresh[ConfigLateAccessParams], fresh[ConfigLateAccessResult]},
	MethodStateSync:        {fresh[StateSyncParams], nil},
}

func fresh[T any]() any { return new(T) }

// goldenBody is one file of testdata/frames: a body of a frame, one line.
type goldenBody struct {
	name  string // the file's name without .json
	body  []byte // without the newline
	fresh func() any
	frame []byte // the whole frame
}

// goldenBodies reads testdata/frames. A file is called by its method, then
// params or result, then perhaps a variant; error.json is the error member of
// an answer.
func goldenBodies(t testing.TB) []goldenBody {
	files, err := filepath.Glob("testdata/frames/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no golden frames in testdata/frames")
	}
	var out []goldenBody
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := goldenBody{name: strings.TrimSuffix(filepath.Base(file), ".json"), body: bytes.TrimSuffix(text, []byte("\n"))}
		if len(g.body)+1 != len(text) || bytes.ContainsRune(g.body, '\n') {
			t.Errorf("%s: want one line", file)
		}
		if g.name == "error" || strings.HasPrefix(g.name, "error.") {
			g.fresh = fresh[RPCError]
			g.frame = slices.Concat([]byte(`{"jsonrpc":"2.0","id":"1","error":`), g.body, []byte(`}`))
		}
		for method, types := range methodTypes {
			switch rest, _ := strings.CutPrefix(g.name, string(method)); {
			case rest == ".params" || strings.HasPrefix(rest, ".params."):
				g.fresh = types.params
				if types.result == nil {
					g.frame = AppendNotification(nil, method, g.body)
				} else {
					g.frame = AppendRequest(nil, "1", method, g.body)
				}
			case rest == ".result" || strings.HasPrefix(rest, ".result."):
				g.fresh = types.result
				g.frame = AppendResult(nil, "1", g.body)
			}
		}
		if g.fresh == nil {
			t.Errorf("%s: no method has this body", file)
			continue
		}
		out = append(out, g)
	}
	return out
}

// TestGoldenFrames decodes every golden body strictly and expects the same
// bytes back: the strict decoder finds a surplus key, the bytes a key that
// differs in case only. frames.test.ts reads the same files.
func TestGoldenFrames(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range goldenBodies(t) {
		seen[g.name] = true
		t.Run(g.name, func(t *testing.T) {
			v := g.fresh()
			dec := json.NewDecoder(bytes.NewReader(g.body))
			dec.DisallowUnknownFields()
			if err := dec.Decode(v); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, g.body) {
				t.Errorf("re-encoded body differs\n got %s\nwant %s", got, g.body)
			}
			if _, err := Parse(g.frame); err != nil {
				t.Errorf("%v: %s", err, g.frame)
			}
		})
	}
	for method, types := range methodTypes {
		if !seen[string(method)+".params"] || types.result != nil && !seen[string(method)+".result"] {
			t.Errorf("method %s lacks a golden frame in testdata/frames", method)
		}
	}
	if !seen["error"] {
		t.Error("testdata/frames/error.json is missing")
	}
}

// TestMethodTypes compares methodTypes with the tables that the generator made
// of the constants in method.go, so that a new method needs a golden frame.
func TestMethodTypes(t *testing.T) {
	src, err := Source.ReadFile("wire.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	want := map[Method]bool{} // has a result
	for _, table := range []string{"Requests", "Notifications"} {
		_, after, _ := strings.Cut(string(src), "export interface "+table+" {\n")
		block, _, _ := strings.Cut(after, "\n}\n")
		for line := range strings.Lines(block) {
			_, rest, _ := strings.Cut(line, "'")
			method, _, _ := strings.Cut(rest, "'")
			want[Method(method)] = table == "Requests"
		}
	}
	got := map[Method]bool{}
	for method, types := range methodTypes {
		got[method] = types.result != nil
	}
	if !maps.Equal(got, want) {
		t.Errorf("methodTypes is not what wire.gen.ts has (method: has a result)\n got %v\nwant %v", got, want)
	}
}
