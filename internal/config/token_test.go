package config

import (
	"encoding/base64"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	// With TEST_TOKEN_DIR set, the test binary is a child process of
	// TestTokenIsOneForAllProcesses.
	if dir := os.Getenv("TEST_TOKEN_DIR"); dir != "" {
		token, err := Dirs{State: dir}.Token()
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(token)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestToken(t *testing.T) {
	d := makeHome(t, "")
	first, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(first); err != nil || len(raw) != 32 {
		t.Errorf("%q is not 256 bits in base64url", first)
	}
	if again, err := d.Token(); err != nil || again != first {
		t.Errorf("the second read of the token: %q, %v", again, err)
	}
	if runtime.GOOS != "windows" {
		wantMode(t, d.TokenFile(), 0o600)
	}
	if entries, _ := os.ReadDir(d.State); len(entries) != 1 {
		t.Errorf("temporary files are left behind: %v; want length 1", entries)
	}
	if other, err := makeHome(t, "").Token(); err != nil || other == first {
		t.Errorf("another installation has %q, %v", other, err)
	}
}

func TestTokenDamaged(t *testing.T) {
	for _, content := range []string{"", "short", "!!!" + strings.Repeat("A", 43), strings.Repeat("A", 40) + "\n" + strings.Repeat("A", 10)} {
		d := makeHome(t, "")
		if err := os.WriteFile(d.TokenFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Token(); err == nil || !strings.Contains(err.Error(), "restart the server") {
			t.Errorf("%q: %v; want an error that contains %q", content, err, "restart the server")
		}
	}
}

// TestTokenIsOneForAllProcesses has many processes, with many goroutines in
// one of them, create the token at once.
func TestTokenIsOneForAllProcesses(t *testing.T) {
	d := makeHome(t, "")
	var mu sync.Mutex // guards tokens
	tokens := map[string]int{}
	var wg sync.WaitGroup
	add := func(token string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		tokens[token]++
	}
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TEST_TOKEN_DIR="+d.State)
			out, err := cmd.Output()
			add(string(out), err)
		})
		for range 8 {
			wg.Go(func() { add(d.Token()) })
		}
	}
	wg.Wait()
	if len(tokens) != 1 {
		t.Errorf("%d different tokens; want 1", len(tokens))
	}
}
