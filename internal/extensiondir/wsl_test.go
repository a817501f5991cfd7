package extensiondir

import "testing"

func TestWindowsPath(t *testing.T) {
	for dir, want := range map[string]string{
		"/mnt/c/Users/ada/opentabs-extension": `C:\Users\ada\opentabs-extension`, "/mnt/d/": `D:\`, "/mnt/c": "", "/mnt/data/x": "", "/home/ada": "",
	} {
		if got, ok := WindowsPath(dir); got != want || ok != (want != "") {
			t.Errorf("Windows path of %s = %q, %t, want %q", dir, got, ok, want)
		}
	}
}
