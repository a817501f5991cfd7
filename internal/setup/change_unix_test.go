//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNotRegularFile checks that setup, undo and the doctor reject a configuration that is
// a named pipe, also behind a link. Reading the pipe would block.
func TestNotRegularFile(t *testing.T) {
	for _, isLink := range []bool{false, true} {
		m := newMachine(t)
		client := clientOf(t, m, "cursor")
		pipe := client.File
		if isLink {
			pipe = filepath.Join(m.Home, "pipe")
		}
		if err := os.MkdirAll(filepath.Dir(client.File), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if isLink {
			if err := os.Symlink(pipe, client.File); err != nil {
				t.Fatal(err)
			}
		}
		want := client.File + " is not a regular file: "
		_, errSet := PlanChange(client, testCommand)
		_, errRead := ReadConfigured(client, "otc_")
		_, errUndo := Writer{Dir: filepath.Join(m.Home, "state")}.Undo(client)
		for name, err := range map[string]error{"PlanChange": errSet, "ReadConfigured": errRead, "Undo": errUndo} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s with a named pipe, link %t: error = %v, want %q", name, isLink, err, want)
			}
		}
		if file, err := (Writer{Dir: filepath.Join(m.Home, "state")}).ConfiguredFile(client); file != "" || err != nil {
			t.Errorf("configured file = %q, %v, want none, so that uninstall continues", file, err)
		}
		if token := CurrentToken(client, "otc_"); token != "" {
			t.Errorf("token in a named pipe = %q", token)
		}
	}
}
