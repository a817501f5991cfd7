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
	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/plaintext"
	"opentabs/internal/pluginview"
	"opentabs/internal/statusview"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

const resultText = "a result as text on a terminal"

var dangerousTexts = map[string]string{
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
	"a reversed writing direction":   "user\u202egnp.exe\u2066x\u2069\u200f",
	"zero-width characters":          "a\u200bd\u2060m\ufeffi\u00adn",
	"invisible letters (tags)":       "x\U000e0049\U000e0067\U000e006e",
	"invisible selectors":            "x\U000e0100\U000e01ef\ufe00\ufe0f",
	"fillers":                        "x\u3164\u115f\u034f\uffa0",
	"half characters":                "x\xed\xa0\x80y\xc3",
}

// TestAttackByText checks that texts from tools, pages, clients and plugins cannot attack
// the user's terminal or the logs.
func TestAttackByText(t *testing.T) {
	for name, evilText := range dangerousTexts {
		t.Run(name+" in the output of every command", func(t *testing.T) {
			for _, isTerminal := range []bool{true, false} {
				for surface, printedText := range printOnAllSurfaces(t, evilText, isTerminal) {
					checkHarmlessText(t, surface, printedText)
				}
			}
		})
	}
	t.Run("a program that reads JSON gets every character exactly", attackJSONOutput)
}

// The test fails if a text in a command's output begins a new line that looks like a message of
// opentabs.
func checkHarmlessText(t *testing.T, surface, printedText string) {
	t.Helper()
	if r, hiddenChar := plaintext.FindHiddenRune(printedText); hiddenChar {
		t.Errorf("%s: output = %q, want an output without the character %q", surface, printedText, r)
		return
	}
	if strings.ToValidUTF8(printedText, "\ufffd") != printedText {
		t.Errorf("%s: output = %q, want valid UTF-8", surface, printedText)
	}
	for line := range strings.Lines(printedText) {
		if surface == resultText { // the result of a tool keeps its line breaks
			break
		}
		if strings.HasPrefix(line, "opentabs: serving") || strings.HasPrefix(line, `{"level":"info","message":"forged"`) {
			t.Errorf("%s: output = %q, want no line that looks like a message of opentabs", surface, printedText)
		}
	}
}

func printOnAllSurfaces(t *testing.T, evilText string, isTerminal bool) map[string]string {
	t.Helper()
	printedTexts := map[string]string{}
	captureOutput := func(surface string, print func(o *terminal.Output) error) {
		var b bytes.Buffer
		o := newPipeOutput(&b)
		if isTerminal {
			o = terminal.NewTerminal(&b, func() (int, int) { return 400, 50 })
		}
		if err := print(o); err != nil {
			t.Errorf("%s: printing returned the error %v, want nil", surface, err)
		}
		printedTexts[surface] = b.String()
	}
	progress := 0.5
	now := time.Now()
	callView := dispatch.View{
		Snapshot:  dispatch.Snapshot{CallID: "call_1", ToolName: evilText, Progression: dispatch.Progression{Status: wire.StatusFailed, Message: evilText, Progress: &progress}},
		Requester: dispatch.Requester{Client: evilText}, Browser: evilText, TabID: 1, Error: evilText, ErrorCode: wire.ErrToolError, Ended: &now,
		StatusWord: evilText, UserStatusWord: evilText, Result: evilText,
	}
	resolution := &dispatch.Resolution{Allow: true, Surface: evilText}
	waitingView := dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: "call_2", ToolName: evilText, Progression: dispatch.Progression{Status: wire.StatusPending}},
		Waiting:  &dispatch.WaitingTicket{Kind: wire.TicketPermission, Reason: evilText, Title: evilText, Args: evilText, ArgsBytes: 1 << 20, ExpiresAt: now},
		Timeline: []dispatch.TimelineEntry{
			{Kind: dispatch.EventKind("x")}, {Kind: dispatch.EventSuspended, Reason: evilText}, {Kind: dispatch.EventResumed, Resolution: resolution},
		},
		UserMessage: evilText,
	}
	content, err := json.Marshal([]map[string]string{{evilText: evilText}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"text", "table", "json", evilText} {
		waitingView.Activities = append(waitingView.Activities, dispatch.ActivityView{Type: kind, Content: content, Audience: "user"})
	}
	serverStatus := httpapi.Status{
		Browsers: []httpapi.Browser{{ID: evilText, Name: evilText, Version: evilText, Connected: true, Tabs: []wire.TabInfo{
			{TabID: 1, URL: evilText, Title: evilText, Plugins: []wire.TabPlugin{{Name: evilText}}, NeedsReload: []string{evilText}},
		}}},
		Plugins: []httpapi.Plugin{{Name: "messages", Version: evilText, DisplayName: evilText}},
		Failed:  []httpapi.FailedPlugin{{Path: evilText, Error: evilText}},
		Clients: []httpapi.MCPClient{{Name: evilText, Version: evilText, Transport: "http"}},
	}
	captureOutput("a sentence on stderr", func(o *terminal.Output) error { o.Notef("warning: %s", evilText); return nil })
	captureOutput("a refusal of the server", func(o *terminal.Output) error {
		errorText, _ := cli.ExplainError(t.Context(), fmt.Errorf("test error: %w", &httpapi.RefusedError{Explanation: evilText}))
		o.Notef("%s", errorText)
		return nil
	})
	captureOutput("a failure", func(o *terminal.Output) error { o.Notef("%v", errors.New(evilText)); return nil })
	captureOutput("calls", func(o *terminal.Output) error {
		o.PrintTable("", callview.Rows([]dispatch.View{callView, waitingView}, true, now))
		return nil
	})
	captureOutput("status", func(o *terminal.Output) error { statusview.Print(o, serverStatus); return nil })
	for _, one := range []dispatch.View{callView, waitingView} {
		captureOutput("calls show: "+one.CallID, func(o *terminal.Output) error { callview.Print(o, one, true); return nil })
	}
	for _, kind := range []dispatch.EventKind{
		dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventResumed, dispatch.EventRunning,
		dispatch.EventProgress, dispatch.EventActivity, dispatch.EventEnded, dispatch.EventKind(evilText),
	} {
		event := dispatch.Event{
			Kind: kind, Call: callView, Report: &wire.Report{Message: evilText, Status: evilText}, Resolution: resolution,
			Activity: &wire.Activity{Type: evilText, Patch: json.RawMessage(`[]`)},
		}
		event.Call.Waiting = waitingView.Waiting
		captureOutput("calls --follow: "+string(kind), func(o *terminal.Output) error { o.PrintText(callview.EventLine(event, true)); return nil })
	}
	record := audit.Record{
		Kind: audit.KindCall, Tool: evilText,
		AuditedCall: shape.AuditedCall{
			Requester: dispatch.Requester{Client: evilText, Session: evilText}, CallID: evilText, Origin: evilText, Browser: evilText,
			Status: wire.CallStatus(evilText), ErrorCode: wire.ErrorCode(evilText),
		},
		Approval: &audit.Approval{By: evilText}, Decisions: []audit.Decision{{By: evilText, RequestReason: evilText}}, LastMessages: []dispatch.ToolMessage{{Message: evilText, Audience: evilText}},
	}
	captureOutput("audit", func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	captureOutput("audit --verbose", func(o *terminal.Output) error {
		for _, line := range auditview.Details(record) {
			o.PrintLine("%s", line)
		}
		return nil
	})
	for _, kind := range []audit.Kind{audit.KindDecision, audit.KindAnswer, audit.KindReview, audit.KindPermission, audit.KindOpening, audit.KindSettings, audit.KindRecommendation, audit.KindForget, audit.Kind(evilText)} {
		record := audit.Record{Kind: kind, Tool: evilText, By: evilText, Old: evilText, New: evilText, Scope: wire.Scope(evilText)}
		captureOutput("audit: "+string(kind), func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	}
	one := &plugin.Plugin{Name: "messages", Version: evilText, DisplayName: evilText, Description: evilText, Dir: evilText, Matches: []string{evilText}, Excludes: []string{evilText}}
	one.Tools = []*plugin.Tool{{Plugin: one, Name: "echo", Description: evilText}}
	one.Prompts = []*plugin.Prompt{{Plugin: one, Name: "ask", Description: evilText}}
	changeOrigin := httpapi.ChangeOrigin{By: evilText}
	permissionsView := httpapi.PluginPermissions{
		Plugin: "messages", Review: &httpapi.Review{Version: evilText, Dir: evilText, ChangeOrigin: changeOrigin}, ChangeOrigin: changeOrigin,
		Tools: []httpapi.ToolPermissions{{Name: "echo", OwnPermission: wire.PermissionAsk, ChangeOrigin: changeOrigin, Limit: evilText, Grants: []httpapi.Grant{{ChangeOrigin: changeOrigin}}}},
	}
	captureOutput("plugin review", func(o *terminal.Output) error { pluginview.PrintReview(o, one, permissionsView); return nil })
	captureOutput("plugin permission", func(o *terminal.Output) error {
		o.PrintTable("", pluginview.PermissionRows([]httpapi.PluginPermissions{permissionsView}, ""))
		return nil
	})
	bar := terminal.Bar{Label: evilText, Message: evilText, Progress: 1, Total: 2, HasTotal: true, HasReport: true}
	printedTexts["the progress bar"] = bar.Draw(300, terminal.ASCIIGlyphs)
	var pipeBuffer bytes.Buffer
	newPipeOutput(&pipeBuffer).ShowProgress("a__b").Update(terminal.Progress{Message: evilText})
	printedTexts["progress in a pipe"] = pipeBuffer.String()
	for _, format := range []string{"json", "console"} {
		captureOutput("the log, "+format, func(o *terminal.Output) error {
			log, err := o.NewLogger(nil, "debug", format)
			if err == nil {
				logInAllFields(log, evilText)
			}
			return err
		})
	}
	if isTerminal {
		encodedJSON, err := json.Marshal(map[string]string{"value": evilText})
		if err != nil {
			t.Fatal(err)
		}
		captureOutput("a result on a terminal", func(o *terminal.Output) error { return o.PrintJSON(encodedJSON) })
		captureOutput(resultText, func(o *terminal.Output) error { o.PrintText(evilText); return nil })
	}
	return printedTexts
}

func logInAllFields(log zerolog.Logger, evilText string) {
	log.Warn().Str("name", evilText).Bytes("bytes", []byte(evilText)).Err(errors.New(evilText)).Strs("all", []string{evilText}).
		Interface("any", map[string]string{evilText: evilText}).Msg(evilText)
}

func attackJSONOutput(t *testing.T) {
	for name, evilText := range dangerousTexts {
		evilText = strings.ToValidUTF8(evilText, "\ufffd") // JSON cannot encode invalid UTF-8
		var pipeBuffer, screenBuffer bytes.Buffer
		for _, o := range []*terminal.Output{newPipeOutput(&pipeBuffer), terminal.NewTerminal(&screenBuffer, func() (int, int) { return 30, 24 })} {
			if err := o.PrintValue(map[string]string{"v": evilText}); err != nil {
				t.Fatal(err)
			}
		}
		for _, output := range []string{pipeBuffer.String(), screenBuffer.String()} {
			var decodedOutput map[string]string
			if err := json.Unmarshal([]byte(output), &decodedOutput); err != nil || decodedOutput["v"] != evilText {
				t.Errorf("%s: the text %q became %q in the JSON output, error %v; want the same text", name, evilText, decodedOutput["v"], err)
			}
		}
		pipeBuffer.Reset()
		newPipeOutput(&pipeBuffer).PrintText(evilText)
		if pipeBuffer.String() != strings.TrimSuffix(evilText, "\n")+"\n" {
			t.Errorf("%s: output to a pipe = %q, want the text %q unchanged", name, pipeBuffer.String(), evilText)
		}
	}
}

func newPipeOutput(b *bytes.Buffer) *terminal.Output {
	return terminal.New(b, b, func(string) string { return "" })
}
