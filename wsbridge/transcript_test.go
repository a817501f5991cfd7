package wsbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/goldentest"
	"opentabs/wire"
)

// TestRecordedFrameTranscripts runs each file in testdata/transcripts. A transcript consists of these
// kinds of lines:
//
//	# text        a comment
//	! connect a   browser a opens a connection; "drop a" breaks it
//	! start b c   a call with ID c starts in browser b; "cancel c" cancels it
//	! answer c 1  ask 1 of call c is answered; "resync c t" requests activity t
//	! want b      a call searches for targets in browser b; they are written
//	! open u b    as "want b", but the call may open the URL u; b may be omitted
//	! tab 7 b     a browser tool requests tab 7 of browser b; b may be omitted
//	! set c {}    plugin c gets these settings; "set c" removes its settings
//	! plugin h    the plugin "chat" gets the hash h
//	! waiting n   n calls are waiting for the user
//	! hold b 7    a client holds tab 7 of browser b
//	@ 10s         10 s pass
//	a> frame      browser a sends this frame
//	a< frame      the hub sent this frame to browser a, or closed its link
//	= text        the sink of a call received this event
//
// The expected output in a transcript consists of the hub's frames and the events of
// calls. The command "go test -update" rewrites the expected output.
func TestRecordedFrameTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.frames")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/transcripts has no files, error %v; want at least one", err)
	}
	transcripts := ""
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := string(b)
		transcripts += want
		t.Run(filepath.Base(file), func(t *testing.T) {
			goldentest.Compare(t, file, []byte(runTranscript(t, want)))
		})
	}
	for _, m := range wireMethods(t) {
		if !strings.Contains(transcripts, `"method":"`+m+`"`) {
			t.Errorf("no transcript contains the method %s, want a transcript for every method", m)
		}
	}
}

func wireMethods(t *testing.T) []string {
	f, err := parser.ParseFile(token.NewFileSet(), "../wire/method.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var methodNames []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			m, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			methodNames = append(methodNames, m)
		}
		return true
	})
	if len(methodNames) < 10 {
		t.Fatalf("methods of the protocol = %q, want at least 10", methodNames)
	}
	return methodNames
}

var outputLinePattern = regexp.MustCompile(`^(\w+<|=) `)

type transcriptRun struct {
	w             *hubFixture
	hash          string
	order         []string
	peersByName   map[string]*browserPeer
	endedSessions map[string]bool
	settings      map[string]json.RawMessage
	tabHolds      *fakeTabHolds
	sessions      fakeSessions
}

type fakeSessions map[string]bool

func (f fakeSessions) listEnded(sessions []string) (endedSessions []string) {
	for _, session := range sessions {
		if f[session] {
			endedSessions = append(endedSessions, session)
		}
	}
	return endedSessions
}

type fakeTabHolds struct {
	w    *hubFixture
	mu   sync.Mutex // the mutex guards the field tabs
	tabs map[string][]wire.TabHold
}

func (f *fakeTabHolds) TabHolds(browserID string) []wire.TabHold {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tabs[browserID])
}

func (f *fakeTabHolds) holdTab(browserID string, tabID int) {
	f.mu.Lock()
	f.tabs[browserID] = append(f.tabs[browserID], wire.TabHold{TabID: tabID, Client: "claude-code", Site: "https://shop.example", LeftMs: 60_000})
	f.mu.Unlock()
	f.w.hub.Holds.Send(browserID)
}

func (f *fakeTabHolds) Release(browserID string, tabID int, surface string) (string, error) {
	f.mu.Lock()
	isHeld := slices.ContainsFunc(f.tabs[browserID], func(t wire.TabHold) bool { return t.TabID == tabID })
	f.tabs[browserID] = slices.DeleteFunc(f.tabs[browserID], func(t wire.TabHold) bool { return t.TabID == tabID })
	f.mu.Unlock()
	if !isHeld {
		return "", fmt.Errorf("no client uses tab %d", tabID)
	}
	f.w.recordEvent("%s released tab %d of %s", surface, tabID, browserID)
	f.w.hub.Holds.Send(browserID)
	return "claude-code", nil
}

func (f *fakeTabHolds) RecordUserInput(browserID string, tabID int) {
	f.mu.Lock()
	for i := range f.tabs[browserID] {
		if f.tabs[browserID][i].TabID == tabID {
			f.tabs[browserID][i].IsTakenBack = true
		}
	}
	f.mu.Unlock()
	f.w.recordEvent("the user used tab %d of %s", tabID, browserID)
	f.w.hub.Holds.Send(browserID)
}

func runTranscript(t *testing.T, recording string) string {
	var transcript strings.Builder
	s := &transcriptRun{hash: "h1", sessions: fakeSessions{}, peersByName: map[string]*browserPeer{}, endedSessions: map[string]bool{}, settings: map[string]json.RawMessage{}}
	policy := &fakePolicy{views: []wire.PluginView{{Name: "chat", DisplayName: "Chat", Hash: "h1", Permission: wire.PermissionOff, World: wire.WorldMain}}}
	fetch := func(p wire.PluginFetchParams) (wire.PluginFetchResult, error) {
		if p.Name != "chat" {
			return wire.PluginFetchResult{}, fmt.Errorf("the plugin %q may not run", p.Name)
		}
		return wire.PluginFetchResult{Code: "function () {}", Options: "{}"}, nil
	}
	o := Options{FetchCode: fetch, Adapters: newChatPluginAdapters(&s.hash), Calls: newFakeCalls(), Policy: policy}
	o.FindEndedSessions = s.sessions.listEnded
	o.RepeatCall = func(callID string) error {
		if callID != "c1" {
			return errors.New("the call is not recorded any more")
		}
		return nil
	}
	o.InspectCall = func(p wire.CallInspectParams) (r wire.CallInspectResult, err error) {
		if p.CallID != "c0" {
			return r, errors.New("the call is not recorded any more")
		}
		r.Phases = []wire.CallPhase{{Name: "handler", StartMs: 1, Ms: 2}}
		return r, nil
	}
	o.UndoCall = func(p wire.CallUndoParams) (r wire.CallUndoResult, err error) {
		if p.CallID != "c1" {
			return r, errors.New("call_2 has already undone this call")
		}
		r.CallID = "c2"
		return r, nil
	}
	o.ReceiveLateAnswer = func(browserID, runID string, lateAnswer dispatch.LateAnswer) {
		if lateAnswer.IsOutputLost {
			s.w.recordEvent("late answer of %s to %s: done, output lost", browserID, runID)
			return
		}
		s.w.recordEvent("late answer of %s to %s: %s, %v", browserID, runID, lateAnswer.Output, lateAnswer.Err)
	}
	o.ReadHistory = func(browserID string, p wire.CallsHistoryParams) (r wire.CallsHistoryResult, err error) {
		if p.Limit == 0 {
			return r, errors.New("there is no limit")
		}
		r.Calls = []wire.RecordedCall{{Call: wire.CallView{CallID: "c0", Plugin: "chat", Tool: "send", Status: wire.StatusDone, Client: browserID}, EndedMs: 1}}
		return r, nil
	}
	o.Settings = func() (transcripts []wire.PluginSettingsParams) {
		for name, values := range s.settings {
			transcripts = append(transcripts, wire.PluginSettingsParams{Name: name, Settings: wire.PluginSettings{Values: values}})
		}
		return transcripts
	}
	o.ReceiveLogs = func(id, name string, p wire.PluginLogParams) {
		s.w.recordEvent("logged in %s (%s): %s", id, name, wire.EncodeBody(p))
	}
	testWithHub(t, o, func(w *hubFixture) {
		s.w = w
		s.tabHolds = &fakeTabHolds{w: w, tabs: map[string][]wire.TabHold{}}
		w.hub.Holds.SetTabHolds(s.tabHolds)
		for line := range strings.Lines(recording) {
			line = strings.TrimSuffix(line, "\n")
			if outputLinePattern.MatchString(line) {
				continue
			}
			fmt.Fprintln(&transcript, line)
			if line != "" && line[0] != '#' {
				s.executeLine(line)
				s.writeSentFrames(&transcript)
			}
		}
	})
	return transcript.String()
}

func (s *transcriptRun) executeLine(line string) {
	if name, frame, ok := strings.Cut(line, "> "); ok && s.peersByName[name] != nil {
		s.peersByName[name].sendFrame(frame)
		return
	}
	outputWords := strings.Fields(line)
	switch {
	case len(outputWords) == 2 && outputWords[0] == "@":
		d, err := time.ParseDuration(outputWords[1])
		if err != nil {
			s.w.t.Fatal(err)
		}
		s.w.advanceTime(d)
	case len(outputWords) == 3 && outputWords[1] == "connect":
		p := s.w.open(browserNonce)
		p.setAnswersPings(false) // the challenge has already started the goroutine that reads the peer's frames
		if s.peersByName[outputWords[2]] == nil {
			s.order = append(s.order, outputWords[2])
		}
		s.peersByName[outputWords[2]], s.endedSessions[outputWords[2]] = p, false
	case len(outputWords) == 3 && outputWords[1] == "drop":
		s.peersByName[outputWords[2]].closeAbruptly()
	case len(outputWords) == 3 && outputWords[1] == "end":
		s.sessions[outputWords[2]] = true
		s.w.hub.Holds.SendSessionEnded(outputWords[2])
	case len(outputWords) == 3 && outputWords[1] == "plugin":
		s.hash = outputWords[2]
		s.w.hub.Sync()
	case len(outputWords) == 3 && outputWords[1] == "waiting":
		n, err := strconv.Atoi(outputWords[2])
		if err != nil {
			s.w.t.Fatal(err)
		}
		s.w.hub.SendWaitingCount(n)
	case len(outputWords) == 4 && outputWords[1] == "hold":
		tab, err := strconv.Atoi(outputWords[3])
		if err != nil {
			s.w.t.Fatal(err)
		}
		s.tabHolds.holdTab(outputWords[2], tab)
	case len(outputWords) == 3 && outputWords[1] == "want":
		go func() {
			got := s.w.hub.Targets(s.w.t.Context(), dispatch.TargetChoice{Plugin: "chat", Browser: outputWords[2]})
			s.w.recordEvent("targets: live %q, to be reloaded %q", targetNames(got.LiveTargets), targetNames(got.TabsToReload))
		}()
	case len(outputWords) >= 3 && outputWords[1] == "open":
		want := dispatch.TargetChoice{Plugin: "chat", URLToOpen: outputWords[2], Browser: strings.Join(outputWords[3:], " ")}
		go func() {
			got := s.w.hub.Targets(s.w.t.Context(), want)
			s.w.recordEvent("targets: live %q, could be opened in %q, opened %v", targetNames(got.LiveTargets), targetNames(got.BrowsersToOpen), got.OpenedTab != nil)
		}()
	case len(outputWords) >= 3 && outputWords[1] == "tab":
		s.describeTab(outputWords[2], strings.Join(outputWords[3:], " "))
	case len(outputWords) >= 3 && outputWords[1] == "set":
		if s.settings[outputWords[2]] = json.RawMessage(strings.Join(outputWords[3:], " ")); len(outputWords) == 3 {
			delete(s.settings, outputWords[2])
		}
		s.w.hub.Sync()
	case len(outputWords) == 3 && outputWords[1] == "cancel":
		s.w.cancel(outputWords[2])
	case len(outputWords) == 4 && outputWords[1] == "answer":
		askIndex, err := strconv.Atoi(outputWords[3])
		if err != nil {
			s.w.t.Fatal(err)
		}
		s.w.hub.Answer(outputWords[2], askIndex, []byte(`{"found":3}`), nil)
	case len(outputWords) == 4 && outputWords[1] == "resync":
		s.w.hub.RequestActivityResync(outputWords[2], outputWords[3])
	case len(outputWords) == 4 && outputWords[1] == "start":
		if err := s.w.startTestRun(outputWords[2], outputWords[3], wire.DefaultMaxResultBytes); err != nil {
			s.w.recordEvent("%s did not start: %s: %s", outputWords[3], err.Code, err.Message)
		}
	default:
		s.w.t.Fatalf("unknown line in the transcript: %s; want one of the documented kinds", line)
	}
}

func (s *transcriptRun) describeTab(tab, browser string) {
	tabID, err := strconv.Atoi(tab)
	if err != nil {
		s.w.t.Fatal(err)
	}
	go func() {
		got := s.w.hub.Targets(s.w.t.Context(), dispatch.TargetChoice{Plugin: "browser", TargetKind: dispatch.TargetTab, TabID: tabID, Browser: browser})
		s.w.recordEvent("%d browsers", got.BrowserCount)
		for _, t := range got.LiveTargets {
			s.w.recordEvent("tab %d of %s: document %q, %q at %q, problem %q", t.TabID, t.Browser, t.DocumentID, t.Title, t.URL, t.Problem)
		}
	}()
}

func (s *transcriptRun) writeSentFrames(outBuffer *strings.Builder) {
	for _, name := range s.order {
		p := s.peersByName[name]
		for _, f := range p.readFrames() {
			fmt.Fprintf(outBuffer, "%s< %s\n", name, f)
		}
		if closeReason := p.awaitClose(); closeReason != "" && !s.endedSessions[name] {
			s.endedSessions[name] = true
			fmt.Fprintf(outBuffer, "%s< %s\n", name, closeReason)
		}
	}
	for _, e := range s.w.readEvents() {
		fmt.Fprintf(outBuffer, "= %s\n", e)
	}
}
