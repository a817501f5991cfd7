package portowner

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
)

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
