package setupcmd

import (
	"context"
	"encoding/base64"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"opentabs/internal/extensiondir"
	"opentabs/internal/home"
	"opentabs/internal/terminal"
)

// openedPage is the page that setup has opened in the user's browser.
type openedPage int

const (
	openedNoPage openedPage = iota
	// openedBlankPage is an empty page in a new window.
	openedBlankPage
	// openedExtensionsPage is the page chrome://extensions.
	openedExtensionsPage
)

// browserCommand is a command that opens a page in a browser that can load the extension.
type browserCommand struct {
	words []string
	page  openedPage
}

// browserCommands maps each operating system to the commands that setup tries. Chrome opens
// chrome://extensions for another program only on macOS. On Linux and Windows, Chrome
// ignores addresses that begin with chrome: on its command line.
var browserCommands = map[string][]browserCommand{
	"darwin": {
		{[]string{"open", "-a", "Google Chrome", "chrome://extensions"}, openedExtensionsPage},
		{[]string{"open", "-a", "Chromium", "chrome://extensions"}, openedExtensionsPage},
	},
	"windows": {
		{[]string{"cmd", "/c", "start", "chrome", "--new-window", "about:blank"}, openedBlankPage},
	},
	"linux": {
		{[]string{"google-chrome", "--new-window", "about:blank"}, openedBlankPage},
		{[]string{"google-chrome-stable", "--new-window", "about:blank"}, openedBlankPage},
		{[]string{"chromium", "--new-window", "about:blank"}, openedBlankPage},
		{[]string{"chromium-browser", "--new-window", "about:blank"}, openedBlankPage},
		{[]string{"brave-browser", "--new-window", "about:blank"}, openedBlankPage},
		{[]string{"microsoft-edge", "--new-window", "about:blank"}, openedBlankPage},
	},
}

// browserExitTimeout limits how long setup waits for a failure of a browser's program. The
// program of a browser exits at once if the browser runs already, and otherwise runs as
// long as the browser.
const browserExitTimeout = 2 * time.Second

// openExtensionsPage opens the page on which the user loads the extension, or a window in
// which the user can open this page. goos is the name of the operating system, such as
// "linux" or "darwin".
func openExtensionsPage(ctx context.Context, goos string) openedPage {
	for _, command := range browserCommands[goos] {
		if startBrowser(ctx, command.words) {
			return command.page
		}
	}
	return openedNoPage
}

// startBrowser starts the program of a browser, which continues after setup has ended.
// startBrowser reports whether the program is installed and did not fail.
func startBrowser(ctx context.Context, words []string) bool {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = home.DetachedProcess()
	if ctx.Err() != nil || cmd.Start() != nil {
		return false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err == nil
	case <-time.After(browserExitTimeout):
		return true
	case <-ctx.Done():
		return false
	}
}

// openPrograms maps each operating system to the programs that open an address in the user's
// browser.
var openPrograms = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
	"linux":   {"xdg-open"},
}

// openTimeout limits how long a program may take to open an address.
const openTimeout = 5 * time.Second

// openPage opens an address in the user's browser, and reports whether this succeeded.
// Without a display, openPage does nothing.
func (b browserSteps) openPage(ctx context.Context, address string) bool {
	opener := openPrograms[runtime.GOOS]
	hasDisplay := runtime.GOOS != "linux" || b.program.Getenv("DISPLAY") != "" || b.program.Getenv("WAYLAND_DISPLAY") != ""
	if opener == nil || !hasDisplay {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return exec.CommandContext(ctx, opener[0], append(opener[1:len(opener):len(opener)], address)...).Run() == nil
}

// pasteSteps maps each operating system to the keys that paste a path into its dialog for
// folders.
var pasteSteps = map[string]string{
	"darwin":  "press Cmd+Shift+G in the dialog, and paste it",
	"windows": "paste it into the line \"Folder\" of the dialog",
	"linux":   "press Ctrl+L in the dialog, and paste it",
}

// clipboardState describes whether the path of the extension's folder is in the
// clipboard.
type clipboardState int

const (
	notCopied clipboardState = iota
	copiedToClipboard
	// sentToTerminal means that setup has sent the path to the terminal with the escape
	// sequence OSC 52. Some terminals ignore OSC 52, and no terminal confirms that it has
	// copied the path.
	sentToTerminal
)

// windowsClipboard is the program of Windows that copies its input to the clipboard.
const windowsClipboard = "clip.exe"

// clipboardPrograms maps each operating system to the programs that copy their input to
// the clipboard.
var clipboardPrograms = map[string][][]string{
	"darwin":  {{"pbcopy"}},
	"windows": {{windowsClipboard}},
	"linux":   {{"wl-copy"}, {"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}},
}

// clipboardTimeout limits how long a program may take to copy a text to the clipboard.
const clipboardTimeout = 10 * time.Second

// copyFolder copies the path of the extension's folder to the clipboard of the computer on
// which Chrome runs, in the form that Chrome's dialog needs. Over SSH, copyFolder does
// nothing, because Chrome then loads a copy of the folder on another computer.
func copyFolder(ctx context.Context, out *terminal.Output, computer computerKind, folder string) clipboardState {
	programs := clipboardPrograms[runtime.GOOS]
	switch computer {
	case wslComputer:
		path, isInWindows := extensiondir.WindowsPath(folder)
		if !isInWindows {
			return notCopied
		}
		folder, programs = path, clipboardPrograms["windows"]
	case remoteComputer, computerWithoutDisplay:
		return notCopied
	}
	switch {
	case runClipboardProgram(ctx, programs, folder):
		return copiedToClipboard
	case out.CanRedraw():
		fmt.Fprintf(out.Stdout(), "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(folder)))
		return sentToTerminal
	}
	return notCopied
}

// runClipboardProgram copies a text to the clipboard with the first of the programs that
// succeeds, and reports whether one has succeeded.
func runClipboardProgram(ctx context.Context, programs [][]string, text string) bool {
	ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
	defer cancel()
	for _, program := range programs {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.Stdin = strings.NewReader(text)
		cmd.SysProcAttr = home.DetachedProcess() // xclip and wl-copy keep running as the owner of the clipboard
		if cmd.Run() == nil {
			return true
		}
	}
	return false
}
