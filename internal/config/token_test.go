package config

import (
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	// With TEST_TOKEN_DIR set, the test binary acts as a child process of
	// TestConcurrentProcessesShareOneToken.
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

func TestTokenIsStableAndPrivate(t *testing.T) {
	d := makeHome(t, "")
	firstToken, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if rawJSON, err := base64.RawURLEncoding.DecodeString(firstToken); err != nil || len(rawJSON) != 32 {
		t.Errorf("new token = %q; want 256 bits in base64url", firstToken)
	}
	if rereadToken, err := d.Token(); err != nil || rereadToken != firstToken {
		t.Errorf("second call of Token returned %q, error %v; want the first token %q", rereadToken, err, firstToken)
	}
	if runtime.GOOS != "windows" {
		checkFileMode(t, d.TokenFile(), 0o600)
	}
	if dirEntries, _ := os.ReadDir(d.State); len(dirEntries) != 1 {
		t.Errorf("files in the state directory = %v; want only the token file", dirEntries)
	}
	if otherToken, err := makeHome(t, "").Token(); err != nil || otherToken == firstToken {
		t.Errorf("token of another installation = %q, error %v; want a different token", otherToken, err)
	}
}

func TestDamagedTokenIsReplaced(t *testing.T) {
	for content, problemText := range map[string]string{
		"":                              "is empty",
		" \n":                           "is empty",
		"short":                         "contains only 5 of the 43 characters of a token",
		"!!!" + strings.Repeat("A", 43): "contains bytes that no token has",
		strings.Repeat("\x00\xff", 22):  "contains bytes that no token has",
		strings.Repeat("A", 40) + "\n" + strings.Repeat("A", 10): "contains bytes that no token has",
		strings.Repeat("A", maxTokenFileBytes+1):                 "has 4097 bytes, which is too long for a token",
	} {
		d := makeHome(t, "")
		if err := os.WriteFile(d.TokenFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		checkDamagedToken(t, d, problemText)
	}
	d := makeHome(t, "")
	if err := os.Mkdir(d.TokenFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	checkDamagedToken(t, d, "is a folder")
}

func checkDamagedToken(t *testing.T, d Dirs, problemText string) {
	t.Helper()
	_, err := d.Token()
	if want := "the token file " + d.TokenFile() + " " + problemText; !errors.Is(err, ErrDamaged) || err.Error() != want {
		t.Errorf("error of Token for a damaged file = %v; want %q", err, want)
	}
	warnings, err := d.RepairStateDir()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], problemText+"; the file is kept as "+d.TokenFile()+".corrupt-") {
		t.Errorf("RepairStateDir returned %q, error %v; want the problem %q and the new name", warnings, err, problemText)
	}
	if _, err := d.Token(); err != nil {
		t.Errorf("Token after the repair returned the error %v; want a token", err)
	}
}

// A repair keeps a valid token with an unreadable mode; root can read files of every mode, so the test skips root.
func TestUnreadableTokenIsRepaired(t *testing.T) {
	d := makeHome(t, "")
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.TokenFile(), 0); err != nil {
		t.Fatal(err)
	}
	wantWarnings := 1
	if os.Geteuid() == 0 {
		wantWarnings = 0
	}
	_, err = d.Token()
	if isForbidden := errors.Is(err, ErrDamaged); isForbidden != (wantWarnings == 1) {
		t.Errorf("Token for a file with mode 0000 returned the error %v; want %v unless root reads the file", err, ErrDamaged)
	}
	if warnings, err := d.RepairStateDir(); err != nil || len(warnings) != wantWarnings {
		t.Errorf("RepairStateDir returned %q, error %v; want %d warnings", warnings, err, wantWarnings)
	}
	if rereadToken, err := d.Token(); err != nil || rereadToken != token {
		t.Errorf("after the repair, the token is %q, error %v; want the earlier token", rereadToken, err)
	}
}

// TestConcurrentProcessesShareOneToken checks that many processes and goroutines that create the
// token concurrently get the same token.
func TestConcurrentProcessesShareOneToken(t *testing.T) {
	d := makeHome(t, "")
	var mu sync.Mutex // the mutex guards the variable tokens
	tokens := map[string]int{}
	var wg sync.WaitGroup
	addToken := func(token string, err error) {
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
			cmdOutput, err := cmd.Output()
			addToken(string(cmdOutput), err)
		})
		for range 8 {
			wg.Go(func() { addToken(d.Token()) })
		}
	}
	wg.Wait()
	if len(tokens) != 1 {
		t.Errorf("concurrent processes created %d different tokens; want 1", len(tokens))
	}
}
