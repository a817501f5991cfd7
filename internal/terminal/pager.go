package terminal

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// ShowPaged shows a text in the user's pager, which PAGER in the environment names, or
// prints the text if there is no pager. Terminal control characters are removed.
// fallbackHint is the end of the sentence "set PAGER to another one, or ..." in the
// notice about a failed pager.
func (o *Output) ShowPaged(ctx context.Context, text string, getenv func(string) string, fallbackHint string) {
	pager := findPager(getenv)
	if pager == "" {
		o.PrintText(text)
		return
	}
	shell := []string{"sh", "-c", pager}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c", pager}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.Env = append(os.Environ(), "LESSSECURE=1") // LESSSECURE keeps less from starting a shell
	// The pager gets the terminal's file as its stdout, so that the pager can read the
	// size of the terminal.
	cmd.Stdin = strings.NewReader(safeText(text) + "\n")
	cmd.Stdout, cmd.Stderr = o.checkedStdout.w, o.stderr.Writer
	if err := cmd.Run(); err != nil {
		o.Notef("the pager %q ended with an error (%v); set PAGER to another one, or %s", pager, err, fallbackHint)
	}
}

// findPager returns the command of the user's pager, or "".
func findPager(getenv func(string) string) string {
	if pager := getenv("PAGER"); pager != "" {
		return pager
	}
	for _, pagerName := range []string{"less", "more"} {
		if _, err := exec.LookPath(pagerName); err == nil {
			return pagerName
		}
	}
	return ""
}
