package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/audit"
	"opentabs/internal/auditview"
	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/plaintext"
	"opentabs/internal/pluginview"
	"opentabs/internal/statusview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

const resultText = "a result as text on a terminal"

// evilTexts control a terminal, or hide text in other text.
var evilTexts = map[string]string{
	"a colour":                       "\x1b[31mred",
	"clearing the screen":            "\x1b[2J\x1b[H",
	"a title of the window (OSC 0)":  "\x1b]0;title\x07",
	"a link (OSC 8)":                 "\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\",
	"the clipboard (OSC 52)":         "\x1b]52;c;ZXZpbA==\x07",
	"a device control string":        "\x1bP$q\x1b\\",
	"a report of the cursor":         "\x1b[6n",
	"a C1 control sequence":          "\u009b31m",
	"a C1 control sequence in bytes": "\x9b31m",
	"writing over the line":          "good\rbad",
	"going back":                     "bad\b\b\bgood\x7f",
	"a bell and a nul":               "\x07\x00",
	"another line of ours":           "x\nopentabs: serving MCP on http://evil.example\r\n{\"level\":\"info\",\"message\":\"forged\"}",
	"line separators":                "x\u2028y\u2029z\u0085w\v\f",
	"a turned direction":             "user\u202egnp.exe\u2066x\u2069\u200f",
	"zero-width characters":          "a\u200bd\u2060m\ufeffi\u00adn",
	"invisible letters (tags)":       "x\U000e0049\U000e0067\U000e006e",
	"invisible selectors":            "x\U000e0100\U000e01ef\ufe00\ufe0f",
	"fillers":                        "x\u3164\u115f\u034f\uffa0",
	"half characters":                "x\xed\xa0\x80y\xc3",
}

// TestAttackByText checks that texts of tools, pages, clients and plugins cannot
// attack the user's terminal or the logs.
func TestAttackByText(t *testing.T) {
	for name, evil := range evilTexts {
		t.Run(name+" in everything that is printed", func(t *testing.T) {
			for _, isTerminal := range []bool{true, false} {
				for where, printed := range printEverywhere(t, evil, isTerminal) {
					isInert(t, where, printed)
				}
			}
		})
	}
	t.Run("a program that reads JSON gets every character exactly", attackTextExact)
}

// isInert checks that a text has no terminal control characters and no invisible
// characters, and that the evil text does not start a new line.
func isInert(t *testing.T, where, printed string) {
	t.Helper()
	if r, found := plaintext.FirstHidden(printed); found {
		t.Errorf("%s: %q reached the output %q", where, r, printed)
		return
	}
	if strings.ToValidUTF8(printed, "\ufffd") != printed {
		t.Errorf("%s: invalid UTF-8 reached the output: %q", where, printed)
	}
	for line := range strings.Lines(printed) {
		if where == resultText { // the result keeps its lines
			break
		}
		if strings.HasPrefix(line, "opentabs: serving") || strings.HasPrefix(line, `{"level":"info","message":"forged"`) {
			t.Errorf("%s: a forged line: %q", where, printed)
		}
	}
}

// printEverywhere returns what each place prints of a text.
func printEverywhere(t *testing.T, evil string, isTerminal bool) map[string]string {
	t.Helper()
	printed := map[string]string{}
	capture := func(where string, print func(o *terminal.Output) error) {
		var b bytes.Buffer
		o := testPipe(&b)
		if isTerminal {
			o = terminal.NewTerminal(&b, func() (int, int) { return 400, 50 })
		}
		if err := print(o); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		printed[where] = b.String()
	}
	half := 0.5
	now := time.Now()
	view := dispatch.View{
		Snapshot:  dispatch.Snapshot{CallID: "call_1", ToolName: evil, Progression: dispatch.Progression{Status: wire.StatusFailed, Message: evil, Progress: &half}},
		Requester: dispatch.Requester{Client: evil}, Browser: evil, TabID: 1, Error: evil, ErrorCode: wire.ErrToolError, Ended: &now,
		StatusWord: evil, UserStatusWord: evil, Result: evil,
	}
	resolution := &dispatch.Resolution{Allow: true, By: evil}
	waiting := dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: "call_2", ToolName: evil, Progression: dispatch.Progression{Status: wire.StatusPending}},
		Waiting:  &dispatch.Waiting{Kind: wire.TicketPermission, Reason: evil, Title: evil, Args: evil, ArgsBytes: 1 << 20, Until: now},
		Timeline: []dispatch.Moment{
			{Kind: dispatch.EventKind("x")}, {Kind: dispatch.EventSuspended, Reason: evil}, {Kind: dispatch.EventResumed, Resolution: resolution},
		},
		UserMessage: evil,
	}
	content, err := json.Marshal([]map[string]string{{evil: evil}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"text", "table", "json", evil} {
		waiting.Activities = append(waiting.Activities, dispatch.ActivityView{Type: kind, Content: content, Audience: "user"})
	}
	status := httpapi.Status{
		Browsers: []httpapi.Browser{{ID: evil, Name: evil, Version: evil, Connected: true, Tabs: []wire.TabInfo{
			{TabID: 1, URL: evil, Title: evil, Plugins: []wire.TabPlugin{{Name: evil}}, NeedsReload: []string{evil}},
		}}},
		Plugins: []httpapi.Plugin{{Name: "messages", Version: evil, DisplayName: evil}},
		Failed:  []httpapi.FailedPlugin{{Path: evil, Error: evil}},
		Clients: []httpapi.MCPClient{{Name: evil, Version: evil, Transport: "http"}},
	}
	capture("a sentence on stderr", func(o *terminal.Output) error { o.Notef("warning: %s", evil); return nil })
	capture("a refusal of the server", func(o *terminal.Output) error {
		sentence, _ := explainError(t.Context(), fmt.Errorf("x: %w", &httpapi.Refused{Sentence: evil}))
		o.Notef("%s", sentence)
		return nil
	})
	capture("a failure", func(o *terminal.Output) error { o.Notef("%v", errors.New(evil)); return nil })
	capture("calls", func(o *terminal.Output) error {
		o.PrintTable("", callview.Rows([]dispatch.View{view, waiting}, true, now))
		return nil
	})
	capture("status", func(o *terminal.Output) error { statusview.Print(o, status); return nil })
	for _, one := range []dispatch.View{view, waiting} {
		capture("calls show: "+one.CallID, func(o *terminal.Output) error { callview.Print(o, one, true); return nil })
	}
	for _, kind := range []dispatch.EventKind{
		dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventResumed, dispatch.EventRunning,
		dispatch.EventProgress, dispatch.EventActivity, dispatch.EventEnded, dispatch.EventKind(evil),
	} {
		event := dispatch.Event{
			Kind: kind, Call: view, Report: &wire.Report{Message: evil, Status: evil}, Resolution: resolution,
			Activity: &wire.Activity{Type: evil, Patch: json.RawMessage(`[]`)},
		}
		event.Call.Waiting = waiting.Waiting
		capture("calls --follow: "+string(kind), func(o *terminal.Output) error { o.PrintText(callview.EventLine(event, true)); return nil })
	}
	record := audit.Record{
		Kind: audit.KindCall, Tool: evil,
		AuditedCall: shape.AuditedCall{
			Requester: dispatch.Requester{Client: evil, Session: evil}, CallID: evil, Origin: evil, Browser: evil,
			Status: wire.CallStatus(evil), Code: wire.ErrorCode(evil),
		},
		Approved: &audit.Approval{By: evil}, Decisions: []audit.Decision{{By: evil, Asked: evil}}, LastMessages: []dispatch.LastMessage{{Message: evil, Audience: evil}},
	}
	capture("audit", func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	capture("audit --verbose", func(o *terminal.Output) error {
		for _, line := range auditview.Details(record) {
			o.PrintLine("%s", line)
		}
		return nil
	})
	for _, kind := range []audit.Kind{audit.KindDecision, audit.KindAnswer, audit.KindReview, audit.KindPermission, audit.KindOpening, audit.KindSettings, audit.KindRecommendation, audit.KindForget, audit.Kind(evil)} {
		record := audit.Record{Kind: kind, Tool: evil, By: evil, Old: evil, New: evil, Scope: wire.Scope(evil)}
		capture("audit: "+string(kind), func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	}
	one := &plugin.Plugin{Name: "messages", Version: evil, DisplayName: evil, Description: evil, Dir: evil, Matches: []string{evil}, Excludes: []string{evil}}
	one.Tools = []*plugin.Tool{{Plugin: one, Name: "echo", Description: evil}}
	one.Prompts = []*plugin.Prompt{{Plugin: one, Name: "ask", Description: evil}}
	mark := httpapi.Mark{By: evil}
	standing := httpapi.PluginPermissions{
		Plugin: "messages", Review: &httpapi.Review{Version: evil, Dir: evil, Mark: mark}, Mark: mark,
		Tools: []httpapi.ToolPermissions{{Name: "echo", Own: wire.PermissionAsk, Mark: mark, Limit: evil, Grants: []httpapi.Grant{{Mark: mark}}}},
	}
	capture("plugin review", func(o *terminal.Output) error { pluginview.PrintReview(o, one, standing); return nil })
	capture("plugin permission", func(o *terminal.Output) error {
		o.PrintTable("", pluginview.PermissionRows([]httpapi.PluginPermissions{standing}, ""))
		return nil
	})
	bar := terminal.Bar{Label: evil, Message: evil, Progress: 1, Total: 2, HasTotal: true, HasReport: true}
	printed["the progress bar"] = bar.Draw(300, terminal.ASCIIGlyphs)
	var pipe bytes.Buffer
	testPipe(&pipe).ShowProgress("a__b").Update(terminal.Progress{Message: evil})
	printed["progress in a pipe"] = pipe.String()
	for _, format := range []string{"json", "console"} {
		capture("the log, "+format, func(o *terminal.Output) error {
			log, err := o.NewLogger(nil, "debug", format)
			if err == nil {
				logEverywhere(log, evil)
			}
			return err
		})
	}
	if isTerminal {
		text, err := json.Marshal(map[string]string{"value": evil})
		if err != nil {
			t.Fatal(err)
		}
		capture("a result on a terminal", func(o *terminal.Output) error { return o.PrintJSON(text) })
		capture(resultText, func(o *terminal.Output) error { o.PrintText(evil); return nil })
	}
	return printed
}

func logEverywhere(log zerolog.Logger, evil string) {
	log.Warn().Str("name", evil).Bytes("bytes", []byte(evil)).Err(errors.New(evil)).Strs("all", []string{evil}).
		Interface("any", map[string]string{evil: evil}).Msg(evil)
}

// attackTextExact checks that JSON output has each character unchanged.
func attackTextExact(t *testing.T) {
	for name, evil := range evilTexts {
		evil = strings.ToValidUTF8(evil, "\ufffd") // JSON cannot encode other bytes
		var pipe, screen bytes.Buffer
		for _, o := range []*terminal.Output{testPipe(&pipe), terminal.NewTerminal(&screen, func() (int, int) { return 30, 24 })} {
			if err := o.PrintValue(map[string]string{"v": evil}); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{pipe.String(), screen.String()} {
			var back map[string]string
			if err := json.Unmarshal([]byte(text), &back); err != nil || back["v"] != evil {
				t.Errorf("%s: %q became %q, %v", name, evil, back["v"], err)
			}
		}
		pipe.Reset()
		testPipe(&pipe).PrintText(evil)
		if pipe.String() != strings.TrimSuffix(evil, "\n")+"\n" {
			t.Errorf("%s: a pipe got %q", name, pipe.String())
		}
	}
}

// testPipe returns an output whose stdout and stderr are a pipe.
func testPipe(b *bytes.Buffer) *terminal.Output {
	return terminal.New(b, b, func(string) string { return "" })
}
