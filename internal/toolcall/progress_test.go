package toolcall

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/mcpclient"
	"opentabs/internal/terminal"
)

func advanceTime(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestToTerminalProgress(t *testing.T) {
	reports := []mcpclient.Progress{
		{Progress: 0.000001, Message: "indexing"},
		{Progress: 0.000002, Message: "Reads the list.", Audience: "user"},
		{Progress: 0.000003, Message: "cached", Audience: "internal"},
		{Progress: 1, Total: 3, HasTotal: true, Message: "one\nline \x1b[31m", Audience: "user"},
		{Progress: 1.000003, Total: 3, HasTotal: true, Message: "page 2", Audience: "other"},
		{Progress: 2, Total: 3, HasTotal: true, Message: "page 3"},
		{Progress: 3, Total: 3, HasTotal: true},
		{Progress: 3.000003, Message: "Tidies up.", Audience: "user"},
		{Progress: 1234567.000001},
	}
	for showAll, want := range map[bool]string{
		false: "Reads the list.|33% 1/3 one line \\x1b[31m|66% 2/3|100% 3/3|3 Tidies up.|1234567|",
		true: "indexing|Reads the list.|cached|33% 1/3 one line \\x1b[31m|33% 1/3 page 2|66% 2/3 page 3|" +
			"100% 3/3|3 Tidies up.|1234567|",
	} {
		var b bytes.Buffer
		v := newTestPipe(&b).ShowProgress("a__b")
		for _, p := range reports {
			v.Update(toTerminalProgress(p, showAll))
		}
		v.Close()
		if got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "opentabs: progress ", ""), "\n", "|"); got != want {
			t.Errorf("progress lines with all messages = %t: %q, want %q", showAll, got, want)
		}
	}
}

func TestBarKeepsMessageForTheUser(t *testing.T) {
	for showAll, want := range map[bool]string{
		false: "a__b  ####..........   33%  1/3  0.3 s  Reads the list.",
		true:  "a__b  ####..........   33%  1/3  0.3 s  cached",
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			v := terminal.NewTerminal(&b, func() (int, int) { return 61, 24 }).ShowProgress("a__b")
			v.Update(toTerminalProgress(mcpclient.Progress{Progress: 0.000001, Message: "Reads the list.", Audience: "user"}, showAll))
			v.Update(toTerminalProgress(mcpclient.Progress{Progress: 1, Total: 3, HasTotal: true, Message: "cached"}, showAll))
			advanceTime(301 * time.Millisecond)
			barOutput := b.String()
			v.Close()
			if line := strings.TrimSpace(barOutput[strings.LastIndex(barOutput, "\r"):]); line != want {
				t.Errorf("bar with all messages = %t: %q, want %q", showAll, line, want)
			}
		})
	}
}

func newTestPipe(b *bytes.Buffer) *terminal.Output {
	return terminal.New(b, b, func(string) string { return "" })
}

func TestPausedViewShowsWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		view := &pausableView{view: terminal.NoProgress}
		view.start(terminal.NewTerminal(&b, func() (int, int) { return 61, 24 }), "a__b")
		view.pause()
		view.showWaiting("waiting for approval")
		advanceTime(time.Second)
		view.pause()
		printedOutput := b.String()
		if !strings.Contains(printedOutput, "waiting for approval  1.0 s") {
			t.Errorf("output = %q; want the text \"waiting for approval\" after 1 s", printedOutput)
		}
		view.resume()
		view.resume()
		advanceTime(time.Second)
		view.close()
		if got := strings.TrimPrefix(b.String(), printedOutput); !strings.Contains(got, "no progress yet") || strings.Contains(got, "waiting") {
			t.Errorf("output after the approval = %q; want a call without progress", got)
		}
	})
}
