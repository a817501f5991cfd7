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
	openedBlankPage
	openedExtensionsPage
)

// browserCommand is a command that opens a page in a browser that can load the extension.
type browserCommand struct {
	words []string
	page  openedPage
}

// Chrome opens chrome://extensions for another program only on macOS. On Linux and Windows, Chrome ignores addresses
// that begin with chrome: on its command line.
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

// A browser's program exits at once if the browser runs already, so setup waits only briefly for a failure.
const browserExitTimeout = 2 * time.Second

func openExtensionsPage(ctx context.Context, goos string) openedPage {
	for _, command := range browserCommands[goos] {
		if startBrowser(ctx, command.words) {
			return command.page
		}
	}
	return openedNoPage
}

// startBrowser starts a browser that continues after setup has ended.
func startBrowser(ctx context.Context, words []string) bool {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = home.DetachedProcessAttributes()
	if ctx.Err() != nil || cmd.Start() != nil {
		return false
	}
	callErrors := make(chan error, 1)
	go func() { callErrors <- cmd.Wait() }()
	select {
	case err := <-callErrors:
		return err == nil
	case <-time.After(browserExitTimeout):
		return true
	case <-ctx.Done():
		return false
	}
}

var openPrograms = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
	"linux":   {"xdg-open"},
}

const openTimeout = 5 * time.Second

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

var pasteInstructions = map[string]string{
	"darwin":  "press Cmd+Shift+G in the dialog, and paste it",
	"windows": "paste it into the line \"Folder\" of the dialog",
	"linux":   "press Ctrl+L in the dialog, and paste it",
}

// clipboardState describes whether the path of the extension's folder is in the
// clipboard.
type clipboardState int

const (
	clipboardNotCopied clipboardState = iota
	clipboardCopied
	// Some terminals ignore the escape sequence OSC 52, and no terminal confirms that it has copied the path.
	clipboardSentToTerminal
)

const windowsClipboard = "clip.exe"

var clipboardPrograms = map[string][][]string{
	"darwin":  {{"pbcopy"}},
	"windows": {{windowsClipboard}},
	"linux":   {{"wl-copy"}, {"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}},
}

const clipboardTimeout = 10 * time.Second

// Over SSH, copyFolder does nothing, because Chrome loads a copy of the folder on another computer.
func copyFolder(ctx context.Context, terminalOut *terminal.Output, computer computerKind, folder string) clipboardState {
	programs := clipboardPrograms[runtime.GOOS]
	switch computer {
	case wslComputer:
		path, isOnWindowsDrive := extensiondir.WindowsPath(folder)
		if !isOnWindowsDrive {
			return clipboardNotCopied
		}
		folder, programs = path, clipboardPrograms["windows"]
	case remoteComputer, computerWithoutDisplay:
		return clipboardNotCopied
	}
	switch {
	case runClipboardProgram(ctx, programs, folder):
		return clipboardCopied
	case terminalOut.CanRedraw():
		fmt.Fprintf(terminalOut.Stdout(), "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(folder)))
		return clipboardSentToTerminal
	}
	return clipboardNotCopied
}

func runClipboardProgram(ctx context.Context, programs [][]string, clipboardText string) bool {
	ctx, cancel := context.WithTimeout(ctx, clipboardTimeout)
	defer cancel()
	for _, program := range programs {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.Stdin = strings.NewReader(clipboardText)
		cmd.SysProcAttr = home.DetachedProcessAttributes() // xclip and wl-copy keep running as the owner of the clipboard
		if cmd.Run() == nil {
			return true
		}
	}
	return false
}
