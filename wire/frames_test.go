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

var newBodiesByMethod = map[Method]struct{ params, result func() any }{
	MethodChallenge:          {newBody[ChallengeParams], nil},
	MethodHello:              {newBody[HelloParams], newBody[HelloResult]},
	MethodPing:               {newBody[PingParams], newBody[PingResult]},
	MethodToolDispatch:       {newBody[ToolDispatchParams], newBody[ToolDispatchResult]},
	MethodToolCancel:         {newBody[ToolCancelParams], newBody[ToolCancelResult]},
	MethodToolProgress:       {newBody[ToolProgressParams], nil},
	MethodToolPart:           {newBody[ToolPartParams], nil},
	MethodToolResync:         {newBody[ToolResyncParams], nil},
	MethodToolAsk:            {newBody[ToolAskParams], nil},
	MethodToolAnswer:         {newBody[ToolAnswerParams], newBody[ToolAnswerResult]},
	MethodCallDecide:         {newBody[CallDecideParams], newBody[CallDecideResult]},
	MethodCallRepeat:         {newBody[CallRepeatParams], newBody[CallRepeatResult]},
	MethodCallInspect:        {newBody[CallInspectParams], newBody[CallInspectResult]},
	MethodCallUndo:           {newBody[CallUndoParams], newBody[CallUndoResult]},
	MethodCallsHistory:       {newBody[CallsHistoryParams], newBody[CallsHistoryResult]},
	MethodConfigPermission:   {newBody[ConfigPermissionParams], newBody[ConfigPermissionResult]},
	MethodConfigReview:       {newBody[ConfigReviewParams], newBody[ConfigReviewResult]},
	MethodPluginInspect:      {newBody[PluginInspectParams], newBody[PluginInspectResult]},
	MethodPluginPage:         {newBody[PluginPageParams], newBody[PluginPageResult]},
	MethodPluginInstall:      {newBody[PluginInstallParams], newBody[PluginInstallResult]},
	MethodPluginUpdate:       {newBody[PluginUpdateParams], newBody[PluginUpdateResult]},
	MethodPluginRemove:       {newBody[PluginRemoveParams], newBody[PluginRemoveResult]},
	MethodStatePlugins:       {newBody[StatePluginsParams], nil},
	MethodStateWaiting:       {newBody[StateWaitingParams], nil},
	MethodCallResumed:        {newBody[CallResumedParams], nil},
	MethodCallCancel:         {newBody[CallCancelParams], newBody[CallCancelResult]},
	MethodPluginSync:         {newBody[PluginSyncParams], newBody[PluginSyncResult]},
	MethodPluginFetch:        {newBody[PluginFetchParams], newBody[PluginFetchResult]},
	MethodTabSync:            {newBody[TabSyncParams], nil},
	MethodTabChanged:         {newBody[TabChangedParams], nil},
	MethodTabLoad:            {newBody[TabLoadParams], newBody[TabLoadResult]},
	MethodTabDescribe:        {newBody[TabDescribeParams], newBody[TabDescribeResult]},
	MethodTabHolds:           {newBody[TabHoldsParams], nil},
	MethodSessionEnded:       {newBody[SessionEndedParams], nil},
	MethodSessionUsed:        {newBody[SessionUsedParams], nil},
	MethodTabRelease:         {newBody[TabReleaseParams], newBody[TabReleaseResult]},
	MethodTabUserInput:       {newBody[TabUserInputParams], nil},
	MethodStateWatch:         {newBody[StateWatchParams], nil},
	MethodPluginSettings:     {newBody[PluginSettingsParams], newBody[PluginSettingsResult]},
	MethodPluginLog:          {newBody[PluginLogParams], nil},
	MethodTabOpen:            {newBody[TabOpenParams], newBody[TabOpenResult]},
	MethodConfigSettings:     {newBody[ConfigSettingsParams], newBody[ConfigSettingsResult]},
	MethodConfigOpening:      {newBody[ConfigOpeningParams], newBody[ConfigOpeningResult]},
	MethodConfigCalls:        {newBody[ConfigCallsParams], newBody[ConfigCallsResult]},
	MethodConfigLateAccess:   {newBody[ConfigLateAccessParams], newBody[ConfigLateAccessResult]},
	MethodStateBrowser:       {newBody[StateBrowserParams], nil},
	MethodConfigSite:         {newBody[ConfigSiteParams], newBody[ConfigSiteResult]},
	MethodConfigBrowserTools: {newBody[ConfigBrowserToolsParams], newBody[ConfigBrowserToolsResult]},
	MethodStateSync:          {newBody[StateSyncParams], nil},
}

func newBody[T any]() any { return new(T) }

type goldenFrameBody struct {
	name    string
	body    []byte
	newBody func() any
	frame   []byte
}

// A file name consists of a method, the word params or result, and an optional variant, as in
// tool.ask.params.user.json. The file error.json contains the member "error" of an answer frame.
func goldenBodies(t testing.TB) []goldenFrameBody {
	files, err := filepath.Glob("testdata/frames/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("testdata/frames contains no golden frames, want at least one")
	}
	var bodies []goldenFrameBody
	for _, file := range files {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := goldenFrameBody{name: strings.TrimSuffix(filepath.Base(file), ".json"), body: bytes.TrimSuffix(fileContent, []byte("\n"))}
		if len(g.body)+1 != len(fileContent) || bytes.ContainsRune(g.body, '\n') {
			t.Errorf("%s: a golden file must have exactly one line", file)
		}
		if g.name == "error" || strings.HasPrefix(g.name, "error.") {
			g.newBody = newBody[RPCError]
			g.frame = slices.Concat([]byte(`{"jsonrpc":"2.0","id":"1","error":`), g.body, []byte(`}`))
		}
		for method, types := range newBodiesByMethod {
			switch bodyKindSuffix, _ := strings.CutPrefix(g.name, string(method)); {
			case bodyKindSuffix == ".params" || strings.HasPrefix(bodyKindSuffix, ".params."):
				g.newBody = types.params
				if types.result == nil {
					g.frame = AppendNotification(nil, method, g.body)
				} else {
					g.frame = AppendRequest(nil, "1", method, g.body)
				}
			case bodyKindSuffix == ".result" || strings.HasPrefix(bodyKindSuffix, ".result."):
				g.newBody = types.result
				g.frame = AppendResult(nil, "1", g.body)
			}
		}
		if g.newBody == nil {
			t.Errorf("the file name %s does not begin with a method; want a method that newBodiesByMethod lists", file)
			continue
		}
		bodies = append(bodies, g)
	}
	return bodies
}

// Package json also decodes a key in the wrong case, but the re-encoded frame then differs from the golden frame.
func TestGoldenFrames(t *testing.T) {
	seenNames := map[string]bool{}
	for _, g := range goldenBodies(t) {
		seenNames[g.name] = true
		t.Run(g.name, func(t *testing.T) {
			v := g.newBody()
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
				t.Errorf("decoding and encoding changed the golden body\n got %s\nwant %s", got, g.body)
			}
			if _, err := Parse(g.frame); err != nil {
				t.Errorf("Parse(%s) returned the error %v; want no error", g.frame, err)
			}
		})
	}
	for method, types := range newBodiesByMethod {
		if !seenNames[string(method)+".params"] || types.result != nil && !seenNames[string(method)+".result"] {
			t.Errorf("the method %s lacks a golden frame; want files for its params and its result in testdata/frames", method)
		}
	}
	if !seenNames["error"] {
		t.Error("testdata/frames/error.json is missing, want a golden frame for errors")
	}
}

func TestMethodBodiesMatchTypeScript(t *testing.T) {
	sourceCode, err := Source.ReadFile("wire.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	want := map[Method]bool{}
	for _, table := range []string{"Requests", "Notifications"} {
		_, textAfter, _ := strings.Cut(string(sourceCode), "export interface "+table+" {\n")
		block, _, _ := strings.Cut(textAfter, "\n}\n")
		for line := range strings.Lines(block) {
			_, textAfterQuote, _ := strings.Cut(line, "'")
			method, _, _ := strings.Cut(textAfterQuote, "'")
			want[Method(method)] = table == "Requests"
		}
	}
	got := map[Method]bool{}
	for method, types := range newBodiesByMethod {
		got[method] = types.result != nil
	}
	if !maps.Equal(got, want) {
		t.Errorf("newBodiesByMethod and wire.gen.ts list different methods (true: the method has a result)\n got %v\nwant %v", got, want)
	}
}
