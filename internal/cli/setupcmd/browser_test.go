package setupcmd

import (
	"strings"
	"testing"
)

// TestStepsForWindowsFolder checks that setup in WSL names the Windows path of a folder
// that is on a Windows drive.
func TestStepsForWindowsFolder(t *testing.T) {
	const want = "In Chrome in Windows:\n  1. Open chrome://extensions and switch on \"Developer mode\" (top right).\n  2. Press \"Load unpacked\" and choose the folder\n       C:\\Users\\ada\\x"
	if got := extensionSteps(wslComputer, "/mnt/c/Users/ada/x", 9527, false); got != want {
		t.Errorf("extension steps =\n%s\nwant\n%s", got, want)
	}
}

// TestExtensionSteps checks that each kind of computer gets the right steps for loading
// the extension, in lines of at most 80 columns.
func TestExtensionSteps(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		goos      string
		wanted    []string
		unwanted  []string
	}{
		{map[string]string{"DISPLAY": ":0"}, "linux", []string{"In Chrome:", "/home/ada/x"}, []string{"ssh", "display"}},
		{map[string]string{"WSL_DISTRO_NAME": "Ubuntu", "DISPLAY": ":0"}, "linux",
			[]string{"\n  opentabs extension install --dir /mnt/c/Users/YOU/opentabs-extension\nThen, in Chrome in Windows:\n", "choose the folder\n       C:\\Users\\YOU\\opentabs-extension\n", "If your Chrome runs in WSL"}, []string{"ssh", "display"}},
		{nil, "darwin", []string{"In Chrome:"}, []string{"ssh", "display"}},
		{nil, "linux", []string{"This computer has no display.", "ssh -N -L 9527:127.0.0.1:9527 THIS-COMPUTER"}, []string{"over SSH"}},
		{map[string]string{"SSH_CONNECTION": "1", "DISPLAY": ":0"}, "linux", []string{"over SSH", "scp -r HOST:/home/ada/x x", "ssh -N -L 9527:127.0.0.1:9527 HOST"}, []string{"no display"}},
	} {
		where := findComputerKind(c.goos, func(name string) string { return c.variables[name] })
		text := extensionSteps(where, "/home/ada/x", 9527, false)
		for _, want := range c.wanted {
			if !strings.Contains(text, want) {
				t.Errorf("extension steps for %v =\n%s\nwant %q in them", c.variables, text, want)
			}
		}
		for _, unwanted := range c.unwanted {
			if strings.Contains(text, unwanted) {
				t.Errorf("extension steps for %v =\n%s\nwant no %q in them", c.variables, text, unwanted)
			}
		}
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("a line of the extension steps has more than 80 columns: %s", line)
			}
		}
	}
}
