package portowner

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestProcOwner(t *testing.T) {
	proc := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	write("net/tcp", head+
		"   0: 0100007F:2537 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1\n"+
		"   1: 0100007F:2538 0100007F:2537 01 00000000:00000000 00:00000000 00000000  1000        0 222 1\n"+
		"a short line\n")
	write("net/tcp6", head+
		"   0: 00000000000000000000000001000000:2539 00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 333 1\n")
	for pid, inode := range map[string]string{"41": "999", "42": "111", "43": "222", "44": "333"} {
		write(pid+"/comm", "program"+pid+"\n")
		if err := os.MkdirAll(filepath.Join(proc, pid, "fd"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("socket:["+inode+"]", filepath.Join(proc, pid, "fd", "3")); err != nil {
			t.Fatal(err)
		}
	}
	for port, want := range map[int]string{
		9527: "program42, pid 42", // listens
		9528: "",                  // only connected
		9529: "program44, pid 44", // on IPv6
		1:    "",
	} {
		if got := procOwner(proc, port); got != want {
			t.Errorf("port %d: got %q, want %q", port, got, want)
		}
	}
	if got := procOwner(filepath.Join(proc, "missing"), 9527); got != "" {
		t.Errorf("without /proc: %q", got)
	}
}

func TestParseLsof(t *testing.T) {
	for text, want := range map[string]string{
		"p42\ncpython3\nf3\n": "python3, pid 42",
		"":                    "",
		"p42\n":               "",
		"garbage":             "",
	} {
		if got := parseLsof(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestPortOwner asks the real system for this process.
func TestPortOwner(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := Find(t.Context(), l.Addr().(*net.TCPAddr).Port)
	if runtime.GOOS == "linux" {
		name, err := os.ReadFile("/proc/self/comm")
		if want := fmt.Sprintf("%s, pid %d", strings.TrimSpace(string(name)), os.Getpid()); err != nil || got != want {
			t.Errorf("got %q, want %q, %v", got, want, err)
		}
	}
	if got == "" {
		t.Error("the owner has no name at all")
	}
}
