package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"opentabs/browser"
	"opentabs/internal/cli"
	"opentabs/internal/extensiondir"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

const (
	browserPollInterval = 300 * time.Millisecond
	browserTimeout      = 15 * time.Minute
	// reconnectTimeout limits how long setup waits for a browser with the extension to
	// connect to a new server.
	reconnectTimeout = 6 * time.Second
)

// browserSteps are the steps of `opentabs setup` that connect a browser and make the
// first call.
type browserSteps struct {
	program *cli.Program
	home    *home.Home
	// The field questions is nil if stdin is not a terminal. Without a terminal, setup
	// does not wait for the user.
	questions *terminal.QuestionReader
	// The field caller is the MCP client whose configured command setup runs to make the
	// first call.
	caller callingClient
	result *setupResult
}

func (b browserSteps) run(ctx context.Context) error {
	terminalOut := b.program.Out
	client, err := b.startedServer(ctx)
	if err != nil {
		return err
	}
	timeout, err := b.reconnectWait(ctx, client)
	if err != nil {
		return err
	}
	name, err := waitForBrowser(ctx, client, timeout)
	if err != nil && !errors.Is(err, errNoBrowser) {
		return err
	}
	if name != "" {
		return b.reportConnection(ctx, client, name)
	}
	if _, isUnpacked := extensiondir.Find(b.home.Dirs); !isUnpacked {
		if pages := b.home.Settings.StoreExtensions.Pages(); len(pages) > 0 {
			return b.installFromStore(ctx, client, pages)
		}
	}
	folder, err := extensiondir.Setup(ctx, b.home, extensiondir.Options{}, terminalOut.Notef)
	if err != nil {
		return err
	}
	b.result.Extension = folder
	guide := extensionGuide{computer: findComputerKind(runtime.GOOS, b.program.Getenv), folder: folder, port: client.Port()}
	guide.clipboard = copyFolder(ctx, terminalOut, guide.computer, folder)
	if guide.computer == desktopComputer && b.questions != nil {
		guide.openedPage = openExtensionsPage(ctx, runtime.GOOS)
	}
	terminalOut.PrintText(guide.steps())
	if b.questions == nil {
		terminalOut.Notef("when the extension is loaded, `opentabs status` shows the browser")
		return nil
	}
	return b.finishWhenConnected(ctx, client)
}

func (b browserSteps) finishWhenConnected(ctx context.Context, client *httpapi.Client) error {
	b.program.Out.Notef("waiting for the browser to connect; Ctrl-C stops waiting, and `opentabs setup` continues later")
	name, err := waitForBrowser(ctx, client, browserTimeout)
	if err != nil {
		return err
	}
	return b.reportConnection(ctx, client, name)
}

func (b browserSteps) reportConnection(ctx context.Context, client *httpapi.Client, browserName string) error {
	b.result.IsConnected, b.result.Browser = true, browserName
	if folder, isInstalled := extensiondir.Find(b.home.Dirs); isInstalled {
		b.result.Extension = folder
	}
	b.program.Out.Notef("the browser %s is connected", terminal.SafeLine(browserName))
	return b.finish(ctx, client)
}

func (b browserSteps) startedServer(ctx context.Context) (*httpapi.Client, error) {
	client, err := b.home.Client(ctx)
	if errors.Is(err, httpapi.ErrNoServer) {
		if err = b.home.StartServer(ctx); err == nil {
			client, err = b.home.Client(ctx)
		}
	}
	return client, err
}

func (b browserSteps) reconnectWait(ctx context.Context, client *httpapi.Client) (time.Duration, error) {
	if _, isInstalled := extensiondir.Find(b.home.Dirs); !isInstalled || b.questions == nil {
		return 0, nil
	}
	serverStatus, err := client.Status(ctx)
	return reconnectTimeout - time.Duration(serverStatus.UptimeMs)*time.Millisecond, err
}

func (b browserSteps) finish(ctx context.Context, client *httpapi.Client) error {
	terminalOut := b.program.Out
	policyAccess, err := b.program.OpenPolicy(ctx)
	if err != nil {
		return err
	}
	currentPermissions, err := policyAccess.Permissions(browser.Name)
	if err != nil {
		return err
	}
	isEnabled := currentPermissions.Permission != wire.PermissionOff
	if !isEnabled && b.questions != nil {
		if isEnabled = b.questions.Confirm(ctx, "Let agents use any page, after your approval for each site? [Y/n] "); isEnabled {
			if err := policyAccess.SetPermission(browser.Name, "", wire.PermissionAuto, httpapi.CommandLine); err != nil {
				return err
			}
			terminalOut.Notef("browser tools are on; `opentabs browser tools off` switches them off")
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !isEnabled:
		terminalOut.PrintText(`Next, choose what agents can use:
  opentabs browser tools on     any page, after your approval for each site
  opentabs plugin search        plugins, which add the tools of a site`)
		return nil
	case b.questions != nil:
		b.result.FirstCall = &firstCallResult{Client: b.caller.title, Tool: listTabsTool}
		return firstCall{program: b.program, client: client, questions: b.questions, caller: b.caller, result: b.result.FirstCall}.run(ctx)
	}
	terminalOut.PrintText(`Now ask your agent, for example: "List my open tabs with opentabs." Approve the
call in the window of the opentabs button in the toolbar of Chrome.`)
	return nil
}

func connectedBrowser(ctx context.Context, client *httpapi.Client) (string, error) {
	serverStatus, err := client.Status(ctx)
	if err != nil {
		return "", err
	}
	for _, b := range serverStatus.Browsers {
		if b.Connected {
			return b.Name, nil
		}
	}
	return "", nil
}

// errNoBrowser is the error of setup if no browser has connected in time.
var errNoBrowser = errors.New("no browser has connected: run `opentabs doctor`, which shows what is missing")

func waitForBrowser(ctx context.Context, client *httpapi.Client, timeout time.Duration) (string, error) {
	deadline := time.Now().Add(timeout)
	for {
		name, err := connectedBrowser(ctx, client)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case name != "" || err != nil:
			return name, err
		case !time.Now().Before(deadline):
			return "", errNoBrowser
		}
		select {
		case <-time.After(browserPollInterval):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// computerKind is the kind of computer on which the user's terminal runs.
type computerKind int

const (
	desktopComputer computerKind = iota
	// On a computer with WSL, Chrome usually runs on Windows, outside of WSL.
	wslComputer
	remoteComputer
	computerWithoutDisplay
)

func findComputerKind(goos string, getenv func(string) string) computerKind {
	switch {
	case getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "":
		return remoteComputer
	case goos == "linux" && getenv("WSL_DISTRO_NAME") != "":
		return wslComputer
	case goos == "linux" && getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return computerWithoutDisplay
	}
	return desktopComputer
}

// extensionGuide has the facts on which the steps for loading the extension depend.
type extensionGuide struct {
	computer   computerKind
	folder     string
	port       int
	openedPage openedPage
	clipboard  clipboardState
}

// Chrome loads an unpacked extension only if the user chooses its folder, so setup cannot load it.
func (g extensionGuide) steps() string {
	switch g.computer {
	case wslComputer:
		return formatWSLSteps(g.folder, g.clipboard)
	case remoteComputer:
		return fmt.Sprintf(`You are connected over SSH, so Chrome probably runs on the computer before you.
There, in a terminal, copy the extension and forward the port of the server, as
long as agents use the browser (HOST is the name that you use for ssh):
  scp -r HOST:%s %s
  ssh -N -L %d:127.0.0.1:%[3]d HOST
Then, in Chrome on that computer:
  1. Open chrome://extensions and switch on "Developer mode" (top right).
  2. Press "Load unpacked" and choose the copied folder.`, g.folder, filepath.Base(g.folder), g.port)
	case computerWithoutDisplay:
		return fmt.Sprintf(`This computer has no display. If Chrome runs here all the same, then in Chrome:
%s
If Chrome runs on another computer, copy this folder there, load it there, and
forward the port of the server: ssh -N -L %d:127.0.0.1:%[2]d THIS-COMPUTER`, formatLoadSteps(g.openedPage, g.folder, g.clipboard, runtime.GOOS), g.port)
	}
	return "In Chrome:\n" + formatLoadSteps(g.openedPage, g.folder, g.clipboard, runtime.GOOS)
}

// The parameter goos is the operating system in which Chrome runs.
func formatLoadSteps(pageState openedPage, folder string, clipboard clipboardState, goos string) string {
	firstSteps := map[openedPage]string{
		openedNoPage:         `Open chrome://extensions and switch on "Developer mode" (top right).`,
		openedBlankPage:      "A new window has opened. Type chrome://extensions into its address bar,\n     press Enter, and switch on \"Developer mode\" (top right).",
		openedExtensionsPage: "The page chrome://extensions has opened. Switch on \"Developer mode\" there\n     (top right).",
	}[pageState]
	steps := fmt.Sprintf("  1. %s\n  2. Press \"Load unpacked\" and choose the folder\n       %s", firstSteps, folder)
	switch clipboard {
	case clipboardCopied:
		steps += "\n     Its path is in the clipboard:\n     " + pasteInstructions[goos] + "."
	case clipboardSentToTerminal:
		steps += "\n     If your terminal supports OSC 52, its path is in the clipboard:\n     " + pasteInstructions[goos] + "."
	}
	return steps
}

// Chrome in Windows cannot load an extension from a Linux folder reliably.
func formatWSLSteps(folder string, clipboard clipboardState) string {
	if path, isOnWindowsDrive := extensiondir.WindowsPath(folder); isOnWindowsDrive {
		return "In Chrome in Windows:\n" + formatLoadSteps(openedNoPage, path, clipboard, "windows")
	}
	return "opentabs runs in WSL. Chrome in Windows cannot load an extension from a Linux\n" +
		"folder reliably. If your Chrome runs in Windows, write the extension to a folder\n" +
		"of Windows, with your Windows name for YOU:\n  " + extensiondir.WindowsInstallCommand +
		"\nThen, in Chrome in Windows:\n" + formatLoadSteps(openedNoPage, `C:\Users\YOU\opentabs-extension`, clipboardNotCopied, "windows") +
		"\nIf your Chrome runs in WSL, choose this folder instead:\n       " + folder
}
