package terminal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// ShowPaged shows text in the user's pager, such as less. The environment variable PAGER
// selects the pager. If there is no pager, ShowPaged prints the text. ShowPaged escapes
// control characters in text. If the pager fails, a notice ends with "set PAGER to
// another one, or " and fallbackHint. If ctx ends, for example by Ctrl-C, ShowPaged stops
// the pager without a notice.
func (o *Output) ShowPaged(ctx context.Context, document string, getenv func(string) string, fallbackHint string) {
	pager := findPager(getenv)
	if pager == "" {
		o.PrintText(document)
		return
	}
	shellCommand := []string{"sh", "-c", pager}
	if runtime.GOOS == "windows" {
		shellCommand = []string{"cmd", "/c", pager}
	} else if !strings.ContainsAny(pager, shellCharacters) {
		shellCommand = strings.Fields(pager) // opentabs can stop a pager that it starts without a shell
	}
	if program := pagerProgram(pager); program != "less" && program != "more" && program != "cat" {
		o.Notef("showing a long text with %s; most pagers end with the key q", program)
	}
	cmd := exec.CommandContext(ctx, shellCommand[0], shellCommand[1:]...)
	// On SIGTERM, a pager restores the terminal, which does not display typed text while a pager runs.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = pagerStopTimeout
	// The variable LESSSECURE prevents the pager `less` from starting a shell. The option -d makes
	// the pager `more` display its keys.
	cmd.Env = append(os.Environ(), "LESSSECURE=1", "LESS="+getenv("LESS")+lessPromptOptions, "MORE="+strings.TrimSpace(getenv("MORE")+" -d"))
	// Stdout of the pager is the terminal itself, not a pipe, so that the pager can read
	// the size of the terminal.
	cmd.Stdin = strings.NewReader(escapeText(document) + "\n")
	cmd.Stdout, cmd.Stderr = o.checkedStdout.w, o.stderr.Writer
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		o.Notef("the pager %q ended with an error (%v); set PAGER to another one, or %s", pager, err, fallbackHint)
	}
}

// pagerStopTimeout is how long a pager may take to end after SIGTERM before opentabs
// kills the pager.
const pagerStopTimeout = 5 * time.Second

// shellCharacters are the characters of a command line that only a shell can interpret.
const shellCharacters = "|&;<>()$`\\\"'*?[]#~=%{}!\n"

// lessPromptOptions are additional options for the pager less, after the user's options. The options -Ps,
// -Pm and -PM of less set its short, medium and long prompt. In the options of less, a $ ends the
// value of an option.
const lessPromptOptions = "$ -Pspress q to leave, space for the next page$ -Pmpress q to leave, space for the next page$ -PMlines %lt-%lb, press q to leave, space for the next page$"

func pagerProgram(pager string) string {
	words := strings.Fields(pager)
	if len(words) == 0 {
		return ""
	}
	return filepath.Base(words[0])
}

func findPager(getenv func(string) string) string {
	if pager := strings.TrimSpace(getenv("PAGER")); pager != "" {
		return pager
	}
	for _, pagerName := range []string{"less", "more"} {
		if _, err := exec.LookPath(pagerName); err == nil {
			return pagerName
		}
	}
	return ""
}
