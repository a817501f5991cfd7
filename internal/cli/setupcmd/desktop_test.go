package setupcmd

import (
	"bytes"
	"strings"
	"testing"

	"opentabs/internal/terminal"
)

func TestCopyFolder(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	size := func() (columns, screenRows int) { return 80, 24 }
	noVariables := func(string) string { return "" }
	for _, c := range []struct {
		name     string
		isPipe   bool
		computer computerKind
		want     clipboardState
		sequence string
	}{
		{"terminal", false, desktopComputer, sentToTerminal, "\x1b]52;c;L2hvbWUvYWRhL3g=\a"},
		{"pipe", true, desktopComputer, notCopied, ""},
		{"SSH", false, remoteComputer, notCopied, ""},
		{"Linux folder in WSL", false, wslComputer, notCopied, ""},
	} {
		var writtenBuffer bytes.Buffer
		terminalOut := terminal.NewTerminal(&writtenBuffer, size)
		if c.isPipe {
			terminalOut = terminal.New(&writtenBuffer, &writtenBuffer, noVariables)
		}
		if got := copyFolder(t.Context(), terminalOut, c.computer, "/home/ada/x"); got != c.want {
			t.Errorf("%s: the state of the clipboard is %v, want %v", c.name, got, c.want)
		}
		if got := writtenBuffer.String(); !strings.Contains(got, c.sequence) || c.sequence == "" && got != "" {
			t.Errorf("%s: setup wrote %q, want %q", c.name, got, c.sequence)
		}
	}
}
