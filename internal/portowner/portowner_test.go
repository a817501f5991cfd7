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
			t.Errorf("Find = %q, want %q; error of the test %v", got, want, err)
		}
	}
	if got == "" {
		t.Error("Find returned an empty text, want a program or \"another program\"")
	}
}
