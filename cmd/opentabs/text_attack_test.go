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
	for name, maliciousText := range dangerousTexts {
		t.Run(name+" in the output of every command", func(t *testing.T) {
			for _, isTerminal := range []bool{true, false} {
				for surface, printedText := range printToAllOutputs(t, maliciousText, isTerminal) {
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

func printToAllOutputs(t *testing.T, maliciousText string, isTerminal bool) map[string]string {
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
		Snapshot:  dispatch.Snapshot{CallID: "call_1", ToolName: maliciousText, Progression: dispatch.Progression{Status: wire.StatusFailed, Message: maliciousText, Progress: &progress}},
		Requester: dispatch.Requester{Client: maliciousText}, Browser: maliciousText, TabID: 1, Error: maliciousText, ErrorCode: wire.ErrToolError, Ended: &now,
		StatusWord: maliciousText, UserStatusWord: maliciousText, Result: maliciousText,
	}
	resolution := &dispatch.Resolution{Allow: true, Surface: maliciousText}
	waitingView := dispatch.View{
		Snapshot: dispatch.Snapshot{CallID: "call_2", ToolName: maliciousText, Progression: dispatch.Progression{Status: wire.StatusPending}},
		Waiting:  &dispatch.WaitingTicket{Kind: wire.TicketPermission, Reason: maliciousText, Title: maliciousText, Args: maliciousText, ArgsBytes: 1 << 20, ExpiresAt: now},
		Timeline: []dispatch.TimelineEntry{
			{Kind: dispatch.EventKind("x")}, {Kind: dispatch.EventSuspended, Reason: maliciousText}, {Kind: dispatch.EventResumed, Resolution: resolution},
		},
		UserMessage: maliciousText,
	}
	content, err := json.Marshal([]map[string]string{{maliciousText: maliciousText}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"text", "table", "json", maliciousText} {
		waitingView.Activities = append(waitingView.Activities, dispatch.ActivityView{Type: kind, Content: content, Audience: "user"})
	}
	serverStatus := httpapi.Status{
		Browsers: []httpapi.Browser{{ID: maliciousText, Name: maliciousText, Version: maliciousText, Connected: true, Tabs: []wire.TabInfo{
			{TabID: 1, URL: maliciousText, Title: maliciousText, Plugins: []wire.TabPlugin{{Name: maliciousText}}, NeedsReload: []string{maliciousText}},
		}}},
		Plugins: []httpapi.Plugin{{Name: "messages", Version: maliciousText, DisplayName: maliciousText}},
		Failed:  []httpapi.FailedPlugin{{Path: maliciousText, Error: maliciousText}},
		Clients: []httpapi.MCPClient{{Name: maliciousText, Version: maliciousText, Transport: "http"}},
	}
	captureOutput("a sentence on stderr", func(o *terminal.Output) error { o.Notef("warning: %s", maliciousText); return nil })
	captureOutput("a refusal of the server", func(o *terminal.Output) error {
		errorText, _ := cli.ExplainError(t.Context(), fmt.Errorf("test error: %w", &httpapi.RefusedError{Explanation: maliciousText}))
		o.Notef("%s", errorText)
		return nil
	})
	captureOutput("a failure", func(o *terminal.Output) error { o.Notef("%v", errors.New(maliciousText)); return nil })
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
		dispatch.EventProgress, dispatch.EventActivity, dispatch.EventEnded, dispatch.EventKind(maliciousText),
	} {
		event := dispatch.Event{
			Kind: kind, Call: callView, Report: &wire.Report{Message: maliciousText, Status: maliciousText}, Resolution: resolution,
			Activity: &wire.Activity{Type: maliciousText, Patch: json.RawMessage(`[]`)},
		}
		event.Call.Waiting = waitingView.Waiting
		captureOutput("calls --follow: "+string(kind), func(o *terminal.Output) error { o.PrintText(callview.EventLine(event, true)); return nil })
	}
	record := audit.Record{
		Kind: audit.KindCall, Tool: maliciousText,
		AuditedCall: shape.AuditedCall{
			Requester: dispatch.Requester{Client: maliciousText, Session: maliciousText}, CallID: maliciousText, Origin: maliciousText, Browser: maliciousText,
			Status: wire.CallStatus(maliciousText), ErrorCode: wire.ErrorCode(maliciousText),
		},
		Approval: &audit.Approval{By: maliciousText}, Decisions: []audit.Decision{{By: maliciousText, RequestReason: maliciousText}}, LastMessages: []dispatch.ToolMessage{{Message: maliciousText, Audience: maliciousText}},
	}
	captureOutput("audit", func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	captureOutput("audit --verbose", func(o *terminal.Output) error {
		for _, line := range auditview.Details(record) {
			o.PrintLine("%s", line)
		}
		return nil
	})
	for _, kind := range []audit.Kind{audit.KindDecision, audit.KindAnswer, audit.KindReview, audit.KindPermission, audit.KindTabOpening, audit.KindSettings, audit.KindRecommendation, audit.KindForget, audit.Kind(maliciousText)} {
		record := audit.Record{Kind: kind, Tool: maliciousText, By: maliciousText, Old: maliciousText, New: maliciousText, Scope: wire.Scope(maliciousText)}
		captureOutput("audit: "+string(kind), func(o *terminal.Output) error { o.PrintLine("%s", auditview.Line(record)); return nil })
	}
	one := &plugin.Plugin{Name: "messages", Version: maliciousText, DisplayName: maliciousText, Description: maliciousText, Dir: maliciousText, Matches: []string{maliciousText}, Excludes: []string{maliciousText}}
	one.Tools = []*plugin.Tool{{Plugin: one, Name: "echo", Description: maliciousText}}
	one.Prompts = []*plugin.Prompt{{Plugin: one, Name: "ask", Description: maliciousText}}
	changeOrigin := httpapi.ChangeOrigin{By: maliciousText}
	permissionsView := httpapi.PluginPermissions{
		Plugin: "messages", Review: &httpapi.Review{Version: maliciousText, Dir: maliciousText, ChangeOrigin: changeOrigin}, ChangeOrigin: changeOrigin,
		Tools: []httpapi.ToolPermissions{{Name: "echo", PermissionOverride: wire.PermissionAsk, ChangeOrigin: changeOrigin, Limit: maliciousText, Grants: []httpapi.Grant{{ChangeOrigin: changeOrigin}}}},
	}
	captureOutput("plugin review", func(o *terminal.Output) error { pluginview.PrintReview(o, one, permissionsView); return nil })
	captureOutput("plugin permission", func(o *terminal.Output) error {
		o.PrintTable("", pluginview.PermissionRows([]httpapi.PluginPermissions{permissionsView}, ""))
		return nil
	})
	bar := terminal.Bar{Label: maliciousText, Message: maliciousText, Progress: 1, Total: 2, HasTotal: true, HasReport: true}
	printedTexts["the progress bar"] = bar.Draw(300, terminal.ASCIIGlyphs)
	var pipeBuffer bytes.Buffer
	newPipeOutput(&pipeBuffer).ShowProgress("a__b").Update(terminal.Progress{Message: maliciousText})
	printedTexts["progress in a pipe"] = pipeBuffer.String()
	for _, format := range []string{"json", "console"} {
		captureOutput("the log, "+format, func(o *terminal.Output) error {
			log, err := o.NewLogger(nil, "debug", format)
			if err == nil {
				logTextInAllFields(log, maliciousText)
			}
			return err
		})
	}
	if isTerminal {
		encodedJSON, err := json.Marshal(map[string]string{"value": maliciousText})
		if err != nil {
			t.Fatal(err)
		}
		captureOutput("a result on a terminal", func(o *terminal.Output) error { return o.PrintJSON(encodedJSON) })
		captureOutput(resultText, func(o *terminal.Output) error { o.PrintText(maliciousText); return nil })
	}
	return printedTexts
}

func logTextInAllFields(log zerolog.Logger, maliciousText string) {
	log.Warn().Str("name", maliciousText).Bytes("bytes", []byte(maliciousText)).Err(errors.New(maliciousText)).Strs("all", []string{maliciousText}).
		Interface("any", map[string]string{maliciousText: maliciousText}).Msg(maliciousText)
}

func attackJSONOutput(t *testing.T) {
	for name, maliciousText := range dangerousTexts {
		maliciousText = strings.ToValidUTF8(maliciousText, "\ufffd") // JSON cannot encode invalid UTF-8
		var pipeBuffer, screenBuffer bytes.Buffer
		for _, o := range []*terminal.Output{newPipeOutput(&pipeBuffer), terminal.NewTerminal(&screenBuffer, func() (int, int) { return 30, 24 })} {
			if err := o.PrintValue(map[string]string{"v": maliciousText}); err != nil {
				t.Fatal(err)
			}
		}
		for _, output := range []string{pipeBuffer.String(), screenBuffer.String()} {
			var decodedOutput map[string]string
			if err := json.Unmarshal([]byte(output), &decodedOutput); err != nil || decodedOutput["v"] != maliciousText {
				t.Errorf("%s: the text %q became %q in the JSON output, error %v; want the same text", name, maliciousText, decodedOutput["v"], err)
			}
		}
		pipeBuffer.Reset()
		newPipeOutput(&pipeBuffer).PrintText(maliciousText)
		if pipeBuffer.String() != strings.TrimSuffix(maliciousText, "\n")+"\n" {
			t.Errorf("%s: output to a pipe = %q, want the text %q unchanged", name, pipeBuffer.String(), maliciousText)
		}
	}
}

func newPipeOutput(b *bytes.Buffer) *terminal.Output {
	return terminal.New(b, b, func(string) string { return "" })
}
