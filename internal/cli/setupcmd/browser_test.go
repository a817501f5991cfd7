package setupcmd

import (
	"strings"
	"testing"
)

// TestExtensionStepsInWSL checks that setup in WSL displays the Windows path of a
// folder on a Windows drive.
func TestExtensionStepsInWSL(t *testing.T) {
	const want = "In Chrome in Windows:\n  1. Open chrome://extensions and switch on \"Developer mode\" (top right).\n  2. Press \"Load unpacked\" and choose the folder\n       C:\\Users\\ada\\x"
	if got := (extensionGuide{computer: wslComputer, folder: "/mnt/c/Users/ada/x", port: 9527}).steps(); got != want {
		t.Errorf("extension steps =\n%s\nwant\n%s", got, want)
	}
}

// The lines of all steps must fit into 80 columns.
func TestExtensionSteps(t *testing.T) {
	for _, c := range []struct {
		variables     map[string]string
		goos          string
		wantedTexts   []string
		unwantedTexts []string
	}{
		{map[string]string{"DISPLAY": ":0"}, "linux", []string{"In Chrome:", "/home/ada/x"}, []string{"ssh", "display"}},
		{map[string]string{"WSL_DISTRO_NAME": "Ubuntu", "DISPLAY": ":0"}, "linux",
			[]string{"\n  opentabs extension install --dir /mnt/c/Users/YOU/opentabs-extension\nThen, in Chrome in Windows:\n", "choose the folder\n       C:\\Users\\YOU\\opentabs-extension\n", "If your Chrome runs in WSL"}, []string{"ssh", "display"}},
		{nil, "darwin", []string{"In Chrome:"}, []string{"ssh", "display"}},
		{nil, "linux", []string{"This computer has no display.", "ssh -N -L 9527:127.0.0.1:9527 THIS-COMPUTER"}, []string{"over SSH"}},
		{map[string]string{"SSH_CONNECTION": "1", "DISPLAY": ":0"}, "linux", []string{"over SSH", "scp -r HOST:/home/ada/x x", "ssh -N -L 9527:127.0.0.1:9527 HOST"}, []string{"no display"}},
	} {
		computer := findComputerKind(c.goos, func(name string) string { return c.variables[name] })
		steps := extensionGuide{computer: computer, folder: "/home/ada/x", port: 9527}.steps()
		for _, want := range c.wantedTexts {
			if !strings.Contains(steps, want) {
				t.Errorf("extension steps for %v =\n%s\nwant the text %q", c.variables, steps, want)
			}
		}
		for _, unwantedText := range c.unwantedTexts {
			if strings.Contains(steps, unwantedText) {
				t.Errorf("extension steps for %v =\n%s\nwant no text %q", c.variables, steps, unwantedText)
			}
		}
		for line := range strings.Lines(steps) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("line of the extension steps has %d columns; want at most 80: %s", len(line), line)
			}
		}
	}
}

// TestStepsWithOpenedPage checks that the steps match the page that setup has opened and
// whether setup has copied the path.
func TestStepsWithOpenedPage(t *testing.T) {
	for _, c := range []struct {
		goos        string
		openedPage  openedPage
		clipboard   clipboardState
		wantedTexts []string
	}{
		{"linux", openedNoPage, clipboardNotCopied, []string{"1. Open chrome://extensions and"}},
		{"linux", openedBlankPage, clipboardCopied, []string{"Type chrome://extensions into its address bar", "Its path is in the clipboard:\n     press Ctrl+L"}},
		{"linux", openedBlankPage, clipboardSentToTerminal, []string{"If your terminal supports OSC 52"}},
		{"darwin", openedExtensionsPage, clipboardCopied, []string{"The page chrome://extensions has opened.", "press Cmd+Shift+G"}},
		{"windows", openedBlankPage, clipboardCopied, []string{"A new window has opened.", `the line "Folder"`}},
	} {
		steps := formatLoadSteps(c.openedPage, "/home/ada/x", c.clipboard, c.goos)
		for _, want := range c.wantedTexts {
			if !strings.Contains(steps, want) {
				t.Errorf("the steps on %s =\n%s\nwant the text %q", c.goos, steps, want)
			}
		}
		for line := range strings.Lines(steps) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("line of the steps on %s has %d columns; want at most 80: %s", c.goos, len(line), line)
			}
		}
	}
}
