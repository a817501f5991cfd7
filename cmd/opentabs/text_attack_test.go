package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/audit"
	"opentabs/internal/httpapi"
	"opentabs/internal/mcpclient"
	"opentabs/internal/plaintext"
	"opentabs/plugin"
	"opentabs/wire"
)

const resultText = "a result as text on a terminal"

// evilTexts do something to a terminal, or hide text in text.
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

// TestAttackByText: what tools, pages, clients and plugins say reaches people's
// terminals and logs.
func TestAttackByText(t *testing.T) {
	for name, evil := range evilTexts {
		t.Run(name+" in everything that is printed", func(t *testing.T) {
			for _, terminal := range []bool{true, false} {
				for where, printed := range printEverywhere(t, evil, terminal) {
					isInert(t, where, printed)
				}
			}
		})
	}
	t.Run("a program that reads JSON gets every character exactly", attackTextExact)
}

// isInert checks that a text has nothing in it that a terminal obeys or hides,
// and that the evil text begins no line of its own.
func isInert(t *testing.T, where, printed string) {
	t.Helper()
	if r, found := plaintext.FirstHidden(printed); found {
		t.Errorf("%s: %q reached it in %q", where, r, printed)
		return
	}
	if strings.ToValidUTF8(printed, "\ufffd") != printed {
		t.Errorf("%s: bytes that are no UTF-8 reached it: %q", where, printed)
	}
	for line := range strings.Lines(printed) {
		if where == resultText { // it is the person's, with its lines
			break
		}
		if strings.HasPrefix(line, "opentabs: serving") || strings.HasPrefix(line, `{"level":"info","message":"forged"`) {
			t.Errorf("%s: a forged line: %q", where, printed)
		}
	}
}

// printEverywhere returns what each place prints of a text.
func printEverywhere(t *testing.T, evil string, terminal bool) map[string]string {
	t.Helper()
	printed := map[string]string{}
	capture := func(where string, print func(o *output) error) {
		var b bytes.Buffer
		size := func() (int, int) { return 400, 50 }
		o := &output{stdout: &b, stderr: &b, terminal: terminal, errTerminal: terminal, size: size, errSize: size, glyphs: asciiGlyphs}
		if err := print(o); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		printed[where] = b.String()
	}
	half := 0.5
	now := time.Now()
	view := dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: "call_1", ToolName: evil, Status: wire.StatusFailed, Message: evil, Progress: &half},
		Client:   evil, Browser: evil, TabID: 1, Error: evil, ErrorCode: wire.ErrToolError, Ended: &now,
		StatusWord: evil, UserStatusWord: evil, Result: evil,
	}
	resolution := &dispatch.Resolution{Allow: true, By: evil}
	waiting := dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: "call_2", ToolName: evil, Status: wire.StatusPending},
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
	capture("a sentence on stderr", func(o *output) error { o.say("warning: %s", evil); return nil })
	capture("a failed tool", func(o *output) error {
		sentence, _ := explain(t.Context(), toolFailure(mcpclient.Result{IsError: true, Content: []mcpclient.Content{{Type: "text", Text: evil}}}))
		o.say("%s", sentence)
		return nil
	})
	capture("a failure", func(o *output) error { o.say("%v", errors.New(evil)); return nil })
	capture("calls", func(o *output) error { o.table("", callRows([]dispatch.View{view, waiting}, true, now)); return nil })
	capture("status: browsers", func(o *output) error { showBrowsers(o, status); return nil })
	capture("status: plugins", func(o *output) error { showPlugins(o, status); return nil })
	capture("status: clients", func(o *output) error { o.line("%s", oneLine(clientName(status.Clients[0]))); return nil })
	for _, one := range []dispatch.View{view, waiting} {
		capture("calls show: "+one.CallID, func(o *output) error { o.inert(sheetOf(o, one, true).lines(0)); return nil })
		capture("calls show --follow: "+one.CallID, func(o *output) error {
			p := plainCall{out: o, drawn: map[string][]string{}}
			p.show(one)
			return nil
		})
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
		capture("calls --follow: "+string(kind), func(o *output) error { o.text(eventLine(event, true)); return nil })
	}
	record := audit.Record{
		Kind: audit.KindCall, Tool: evil, Client: evil, CallID: evil, Session: evil, Origin: evil, Browser: evil, Status: wire.CallStatus(evil), Code: wire.ErrorCode(evil),
		Approved: &audit.Approval{By: evil}, Decisions: []audit.Decision{{By: evil, Asked: evil}}, Said: []dispatch.Said{{Message: evil, Audience: evil}},
	}
	capture("audit", func(o *output) error { o.line("%s", auditLine(record)); return nil })
	capture("audit --verbose", func(o *output) error {
		for _, line := range auditDetails(record) {
			o.line("%s", line)
		}
		return nil
	})
	for _, kind := range []audit.Kind{audit.KindDecision, audit.KindAnswer, audit.KindReview, audit.KindPermission, audit.KindOpening, audit.KindSettings, audit.KindRecommendation, audit.KindForget, audit.Kind(evil)} {
		record := audit.Record{Kind: kind, Tool: evil, By: evil, Old: evil, New: evil, Scope: wire.Scope(evil)}
		capture("audit: "+string(kind), func(o *output) error { o.line("%s", auditLine(record)); return nil })
	}
	one := &plugin.Plugin{Name: "messages", Version: evil, DisplayName: evil, Description: evil, Dir: evil, Matches: []string{evil}, Excludes: []string{evil}}
	one.Tools = []*plugin.Tool{{Plugin: one, Name: "echo", Description: evil}}
	one.Prompts = []*plugin.Prompt{{Plugin: one, Name: "ask", Description: evil}}
	mark := httpapi.Mark{By: evil}
	standing := httpapi.PluginPermissions{
		Plugin: "messages", Review: &httpapi.Review{Version: evil, Dir: evil, Mark: mark}, Mark: mark,
		Tools: []httpapi.ToolPermissions{{Name: "echo", Own: wire.PermissionAsk, Mark: mark, Limit: evil, Grants: []httpapi.Grant{{Mark: mark}}}},
	}
	capture("plugin review", func(o *output) error { (&program{out: o}).showPlugin(one, standing); return nil })
	capture("plugin permission", func(o *output) error { o.table("", permissionRows(standing, "")); return nil })
	bar := barState{label: evil, message: evil, progress: 1, total: 2, known: true, counted: true}
	printed["the progress bar"] = bar.draw(300, asciiGlyphs)
	capture("progress in a pipe", func(o *output) error {
		(&lineView{out: o, all: true}).report(mcpclient.Progress{Message: evil})
		return nil
	})
	for _, format := range []string{"json", "console"} {
		capture("the log, "+format, func(o *output) error {
			log, err := o.logger(o.stderr, "debug", format)
			if err == nil {
				logEverywhere(log, evil)
			}
			return err
		})
	}
	if terminal {
		text, err := json.Marshal(map[string]string{"value": evil})
		if err != nil {
			t.Fatal(err)
		}
		capture("a result on a terminal", func(o *output) error { return o.raw(text) })
		capture(resultText, func(o *output) error { o.text(contentText(mcpclient.Content{Type: "text", Text: evil})); return nil })
	}
	return printed
}

func logEverywhere(log zerolog.Logger, evil string) {
	log.Warn().Str("name", evil).Bytes("bytes", []byte(evil)).Err(errors.New(evil)).Strs("all", []string{evil}).
		Interface("any", map[string]string{evil: evil}).Msg(evil)
}

// attackTextExact: what is inert for people is exact for programs.
func attackTextExact(t *testing.T) {
	for name, evil := range evilTexts {
		evil = strings.ToValidUTF8(evil, "\ufffd") // JSON has no other
		var pipe, terminal bytes.Buffer
		for _, o := range []*output{{stdout: &pipe}, onTerminal(&terminal)} {
			if err := o.value(map[string]string{"v": evil}); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{pipe.String(), terminal.String()} {
			var back map[string]string
			if err := json.Unmarshal([]byte(text), &back); err != nil || back["v"] != evil {
				t.Errorf("%s: %q became %q, %v", name, evil, back["v"], err)
			}
		}
		pipe.Reset()
		(&output{stdout: &pipe}).text(evil)
		if pipe.String() != strings.TrimSuffix(evil, "\n")+"\n" {
			t.Errorf("%s: a pipe got %q", name, pipe.String())
		}
	}
}
