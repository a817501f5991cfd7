package setupcmd

import (
	"strings"
	"testing"
)

// TestStepsForWindowsFolder checks that setup in WSL displays the Windows path of a
// folder on a Windows drive.
func TestStepsForWindowsFolder(t *testing.T) {
	const want = "In Chrome in Windows:\n  1. Open chrome://extensions and switch on \"Developer mode\" (top right).\n  2. Press \"Load unpacked\" and choose the folder\n       C:\\Users\\ada\\x"
	if got := (extensionGuide{computer: wslComputer, folder: "/mnt/c/Users/ada/x", port: 9527}).steps(); got != want {
		t.Errorf("extension steps =\n%s\nwant\n%s", got, want)
	}
}

// The lines of all steps must fit into 80 columns.
func TestExtensionSteps(t *testing.T) {
	for _, c := range []struct {
		variables   map[string]string
		goos        string
		wantedTexts []string
		unwanted    []string
	}{
		{map[string]string{"DISPLAY": ":0"}, "linux", []string{"In Chrome:", "/home/ada/x"}, []string{"ssh", "display"}},
		{map[string]string{"WSL_DISTRO_NAME": "Ubuntu", "DISPLAY": ":0"}, "linux",
			[]string{"\n  opentabs extension install --dir /mnt/c/Users/YOU/opentabs-extension\nThen, in Chrome in Windows:\n", "choose the folder\n       C:\\Users\\YOU\\opentabs-extension\n", "If your Chrome runs in WSL"}, []string{"ssh", "display"}},
		{nil, "darwin", []string{"In Chrome:"}, []string{"ssh", "display"}},
		{nil, "linux", []string{"This computer has no display.", "ssh -N -L 9527:127.0.0.1:9527 THIS-COMPUTER"}, []string{"over SSH"}},
		{map[string]string{"SSH_CONNECTION": "1", "DISPLAY": ":0"}, "linux", []string{"over SSH", "scp -r HOST:/home/ada/x x", "ssh -N -L 9527:127.0.0.1:9527 HOST"}, []string{"no display"}},
	} {
		where := findComputerKind(c.goos, func(name string) string { return c.variables[name] })
		steps := extensionGuide{computer: where, folder: "/home/ada/x", port: 9527}.steps()
		for _, want := range c.wantedTexts {
			if !strings.Contains(steps, want) {
				t.Errorf("extension steps for %v =\n%s\nwant %q in them", c.variables, steps, want)
			}
		}
		for _, unwanted := range c.unwanted {
			if strings.Contains(steps, unwanted) {
				t.Errorf("extension steps for %v =\n%s\nwant no %q in them", c.variables, steps, unwanted)
			}
		}
		for line := range strings.Lines(steps) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("a line of the extension steps has more than 80 columns: %s", line)
			}
		}
	}
}

// TestStepsAfterOpening checks that the steps match the page that setup has opened and
// whether setup has copied the path.
func TestStepsAfterOpening(t *testing.T) {
	for _, c := range []struct {
		goos        string
		openedPage  openedPage
		clipboard   clipboardState
		wantedTexts []string
	}{
		{"linux", openedNoPage, notCopied, []string{"1. Open chrome://extensions and"}},
		{"linux", openedBlankPage, copiedToClipboard, []string{"Type chrome://extensions into its address bar", "Its path is in the clipboard:\n     press Ctrl+L"}},
		{"linux", openedBlankPage, sentToTerminal, []string{"If your terminal supports OSC 52"}},
		{"darwin", openedExtensionsPage, copiedToClipboard, []string{"The page chrome://extensions has opened.", "press Cmd+Shift+G"}},
		{"windows", openedBlankPage, copiedToClipboard, []string{"A new window has opened.", `the line "Folder"`}},
	} {
		steps := loadSteps(c.openedPage, "/home/ada/x", c.clipboard, c.goos)
		for _, want := range c.wantedTexts {
			if !strings.Contains(steps, want) {
				t.Errorf("the steps on %s =\n%s\nwant %q in them", c.goos, steps, want)
			}
		}
		for line := range strings.Lines(steps) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("a line of the steps on %s has more than 80 columns: %s", c.goos, line)
			}
		}
	}
}
