package setupcmd

import (
	"bytes"
	"strings"
	"testing"

	"opentabs/internal/terminal"
)

func TestCopyFolderToClipboard(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	size := func() (columns, screenRows int) { return 80, 24 }
	emptyGetenv := func(string) string { return "" }
	for _, c := range []struct {
		name                  string
		isPipe                bool
		computer              computerKind
		want                  clipboardState
		wantClipboardSequence string
	}{
		{"terminal", false, desktopComputer, clipboardSentToTerminal, "\x1b]52;c;L2hvbWUvYWRhL3g=\a"},
		{"pipe", true, desktopComputer, clipboardNotCopied, ""},
		{"SSH", false, remoteComputer, clipboardNotCopied, ""},
		{"Linux folder in WSL", false, wslComputer, clipboardNotCopied, ""},
	} {
		var terminalBuffer bytes.Buffer
		terminalOut := terminal.NewTerminal(&terminalBuffer, size)
		if c.isPipe {
			terminalOut = terminal.New(&terminalBuffer, &terminalBuffer, emptyGetenv)
		}
		if got := copyFolder(t.Context(), terminalOut, c.computer, "/home/ada/x"); got != c.want {
			t.Errorf("%s: the state of the clipboard is %v, want %v", c.name, got, c.want)
		}
		if got := terminalBuffer.String(); !strings.Contains(got, c.wantClipboardSequence) || c.wantClipboardSequence == "" && got != "" {
			t.Errorf("%s: setup wrote %q, want %q", c.name, got, c.wantClipboardSequence)
		}
	}
}
