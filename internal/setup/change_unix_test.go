//go:build unix

package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a named pipe blocks until another process writes to the pipe.
func TestConfigFileMustBeRegular(t *testing.T) {
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
		_, changeErr := PlanChange(client, testCommand)
		_, readErr := ReadConfigured(client, "otc_")
		_, undoErr := Writer{Dir: filepath.Join(m.Home, "state")}.Undo(client)
		for name, err := range map[string]error{"PlanChange": changeErr, "ReadConfigured": readErr, "Undo": undoErr} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s with a named pipe, link %t: error = %v, want %q", name, isLink, err, want)
			}
		}
		if file, err := (Writer{Dir: filepath.Join(m.Home, "state")}).ConfiguredFile(client); file != "" || err != nil {
			t.Errorf("configured file = %q, error %v, want none, so that uninstall continues", file, err)
		}
		if token := FindClientToken(client, "otc_"); token != "" {
			t.Errorf("token in a named pipe = %q, want none", token)
		}
	}
}

// Only root can give a file to another user.
func TestFileOwnerIsKept(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writeConfig(t, client, "{}")
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 4711, 4712
	}
	if err := errors.Join(os.Chown(client.File, uid, gid), os.Chmod(client.File, 0o664)); err != nil {
		t.Fatal(err)
	}
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	checkOwner := func(stepName string) {
		t.Helper()
		fileInfo, err := os.Stat(client.File)
		if err != nil {
			t.Fatal(err)
		}
		stat, ok := fileInfo.Sys().(*syscall.Stat_t)
		if !ok || int(stat.Uid) != uid || int(stat.Gid) != gid || fileInfo.Mode() != 0o664 {
			t.Errorf("after %s, the file has the user %d, the group %d and the mode %v, want %d, %d and 664", stepName, stat.Uid, stat.Gid, fileInfo.Mode(), uid, gid)
		}
	}
	setUpClient(t, writer, client, testCommand)
	checkOwner("setup")
	if _, err := writer.Undo(client); err != nil {
		t.Fatal(err)
	}
	checkOwner("undo")
}

func TestGroupPermissionsAreDropped(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Chmod(0o664); err != nil {
		t.Fatal(err)
	}
	fileInfo, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if mode := copyOwner(f, fileInfo); mode != 0o664 {
		t.Errorf("the mode with the same group = %v, want 664", mode)
	}
	f.Close()
	if mode := copyOwner(f, fileInfo); mode != 0o604 {
		t.Errorf("the mode with another group = %v, want 604", mode)
	}
}

// An error about the folder of a client's file must not suggest the remedy for a folder of opentabs.
func TestExplainAccessErrors(t *testing.T) {
	for _, number := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOTDIR} {
		err := explainAccess("/home/a/.cursor/mcp.json", &os.PathError{Op: "open", Path: "/home/a/.cursor/mcp.json", Err: number})
		if errors.Is(err, number) || !strings.HasSuffix(err.Error(), ", then run the command again") {
			t.Errorf("error of %v = %v, want a remedy and no wrapped error", number, err)
		}
	}
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	if err := os.WriteFile(filepath.Dir(client.File), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanChange(client, testCommand); err == nil || errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("error for a file in place of the folder = %v, want an error that does not wrap ENOTDIR", err)
	}
}
