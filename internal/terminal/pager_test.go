package terminal

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPager(t *testing.T) {
	var outBuffer, err bytes.Buffer
	pager := "cat"
	getenv := func(name string) string {
		if name == "PAGER" {
			return pager
		}
		return ""
	}
	o := New(&outBuffer, &err, getenv)
	const fallbackHint = "print the code with `opentabs plugin inspect`"
	document := strings.Repeat("code\n", 10_000) + "evil \x1b[2J\u202e end"
	o.ShowPaged(t.Context(), document, getenv, fallbackHint)
	if got := outBuffer.String(); strings.Count(got, "code\n") != 10_000 || strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, "end") {
		t.Errorf("the pager received %d bytes that end with %q, want the whole text without control characters", len(got), got[max(0, len(got)-60):])
	}
	markerFile := filepath.Join(t.TempDir(), "ran")
	pager = "touch " + markerFile + "; exit 3"
	o.ShowPaged(t.Context(), "x", getenv, fallbackHint)
	if !strings.Contains(err.String(), "exit status 3") || !strings.Contains(err.String(), "opentabs plugin inspect") {
		t.Errorf("notice about a failed pager = %s, want the exit status and the other command", err.String())
	}
	if _, e := os.Stat(markerFile); e != nil {
		t.Error("the program in PAGER did not receive its argument, want the pager called with the arguments in PAGER")
	}
}

func TestPagerPromptExplainsKeys(t *testing.T) {
	pager := "sh -c 'printf \"%s|%s\" \"$LESS\" \"$MORE\"'"
	getenv := func(name string) string { return map[string]string{"PAGER": pager, "LESS": "-R -PMmine"}[name] }
	var stdout, stderr bytes.Buffer
	o := New(&stdout, &stderr, getenv)
	o.ShowPaged(t.Context(), "text", getenv, "")
	lessOptions, moreOptions, _ := strings.Cut(stdout.String(), "|")
	if !strings.HasPrefix(lessOptions, "-R -PMmine$ -Ps") || strings.Count(lessOptions, "press q to leave") != 3 {
		t.Errorf("LESS = %q, want the user's options and three prompts", lessOptions)
	}
	if moreOptions != "-d" {
		t.Errorf("MORE = %q, want -d", moreOptions)
	}
	if want := "most pagers end with the key q"; !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr = %q, want %q for a pager other than less", stderr.String(), want)
	}
	for _, disabledPager := range []string{"cat", "/bin/cat -u"} {
		pager = disabledPager
		stderr.Reset()
		o.ShowPaged(t.Context(), "text", getenv, "")
		if stderr.Len() > 0 {
			t.Errorf("stderr with the pager %q = %q, want none", disabledPager, stderr.String())
		}
	}
}

// TestPagerIsStopped checks that the pager can restore the terminal when the command is
// interrupted. The interruption is not a failure of the pager, so no notice blames it.
func TestPagerIsStopped(t *testing.T) {
	restoredFile := filepath.Join(t.TempDir(), "restored")
	ctx, cancel := context.WithCancel(t.Context())
	cancelOnWrite := writerFunc(func([]byte) { cancel() })
	pager := "trap 'touch " + restoredFile + "; exit 1' TERM; echo started; while :; do sleep 0.05; done"
	getenv := func(name string) string { return map[string]string{"PAGER": pager}[name] }
	var stderr bytes.Buffer
	New(cancelOnWrite, &stderr, getenv).ShowPaged(ctx, "text", getenv, "print it")
	if _, err := os.Stat(restoredFile); err != nil {
		t.Errorf("the pager did not restore the terminal: %v; want a stop with SIGTERM", err)
	}
	if strings.Contains(stderr.String(), "ended with an error") {
		t.Errorf("stderr = %q, want no notice about the pager", stderr.String())
	}
}

// writerFunc calls a function for each write.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
