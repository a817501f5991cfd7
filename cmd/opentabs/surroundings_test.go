package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
)

// freePort returns a free port below 32768. Systems assign higher ports to programs that
// ask for any port, so no other program gets this one.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err == nil {
			defer l.Close()
			return l.Addr().(*net.TCPAddr).Port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// newHome returns directories with a token.
func newHome(t *testing.T) config.Dirs {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	dirs := config.Dirs{Config: home, State: home}
	_, err := dirs.Make()
	if err == nil {
		_, err = dirs.Token()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// TestServeFromAReadOnlyHome checks that the server runs on a read-only home directory.
// Only the first start of a server has to write to the home directory.
func TestServeFromAReadOnlyHome(t *testing.T) {
	dirs := newHome(t)
	if err := os.Chmod(dirs.State, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dirs.State, 0o700) })
	port := fmt.Sprintf("OPENTABS_PORT=%d", freePort(t))
	// Root can write anywhere, unless the process drops that capability.
	setpriv, err := exec.LookPath("setpriv")
	limited := err == nil || os.Geteuid() != 0
	command := func(args ...string) *exec.Cmd {
		cmd := opentabsCommand(t, dirs, args...)
		if os.Geteuid() == 0 && limited {
			wrapped := exec.Command(setpriv, append([]string{"--bounding-set=-dac_override,-dac_read_search", cmd.Path}, args...)...)
			wrapped.Env = cmd.Env
			cmd = wrapped
		}
		cmd.Env = append(cmd.Env, port)
		return cmd
	}
	serve := command("serve", "--log-format", "json")
	var stderr strings.Builder
	serve.Stderr = &stderr
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	untilPrinted(t, command, "^server    opentabs", "status")
	if out, err := command("plugin", "remove", "x").CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no plugin") && !strings.Contains(string(out), "check that you can read and write there") {
		t.Errorf("plugin remove: %v: %s", err, out)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, stderr.String())
	}
	// The relay of a client also starts a server.
	relay := command("mcp")
	relay.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n")
	if out, err := relay.Output(); err != nil || !strings.Contains(string(out), `"id":7,"result":{}`) {
		t.Errorf("mcp gave %q, %v", out, err)
	}
	if limited && !strings.Contains(stderr.String(), "the state directory cannot be written; the server runs") {
		t.Errorf("the log does not report that the state directory is read-only: %s", stderr.String())
	}
}

// untilPrinted runs a command until its output has a line with want.
func untilPrinted(t *testing.T, command func(...string) *exec.Cmd, want string, args ...string) {
	t.Helper()
	var out []byte
	for range 400 {
		out, _ = command(args...).CombinedOutput() // the exit code is not checked
		if strings.Contains("\n"+string(out), strings.Replace(want, "^", "\n", 1)) {
			return
		}
	}
	t.Fatalf("%v never printed %q; the last output: %s", args, want, out)
}

// fullDisk is a script that runs in a separate mount namespace. The arguments of the
// script are the home directory and the port.
const fullDisk = `
set -eu
mount -t tmpfs -o size=64k tmpfs "$1"
export OPENTABS_HOME=$1/home OPENTABS_PORT=$2
fill() { dd if=/dev/zero of="$1/filler$2" bs=1k 2>/dev/null || true; }
fill "$1" 1
echo "== a first start"
opentabs serve 2>&1 && exit 9 || echo "exit $?"
rm "$1/filler1"
echo "== a later start"
opentabs plugin list 2>/dev/null
test -e "$OPENTABS_HOME/token" || { opentabs serve >/dev/null 2>&1 & first=$!; until opentabs status >/dev/null 2>&1; do :; done; kill $first; wait $first; }
cp "$OPENTABS_HOME/token" "$1/../token-before"
fill "$1" 2
opentabs serve --log-format json 2> "$1/../log" & server=$!
until opentabs status >/dev/null 2>&1; do kill -0 $server; done
opentabs status
echo "== a change"
opentabs plugin add "$3" 2>&1 && exit 9 || echo "exit $?"
ls "$OPENTABS_HOME"
cmp "$OPENTABS_HOME/token" "$1/../token-before" && echo "the token is whole"
kill $server
wait $server && echo "exit 0"
`

// TestFullDisk fills a small disk. If the test may not mount a disk, it only checks the
// text of the system's error.
func TestFullDisk(t *testing.T) {
	sentence, code := explainError(t.Context(), fmt.Errorf("write x: %w", syscall.ENOSPC))
	if code != exitFailed || !strings.HasSuffix(sentence, "no space left on device: free some space on that disk, then try again") {
		t.Errorf("got %q, %d", sentence, code)
	}
	if exec.Command("unshare", "-m", "true").Run() != nil {
		t.Log("cannot mount a disk here: only the sentence was checked")
		return
	}
	base := t.TempDir()
	disk := filepath.Join(base, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(base, "messages")
	writePlugin(t, plugin)
	t.Cleanup(func() { endAll(config.Dirs{State: filepath.Join(disk, "home")}) })
	cmd := exec.Command("unshare", "-m", "sh", "-c", fullDisk, "sh", disk, fmt.Sprint(freePort(t)), plugin)
	out, err := cmd.CombinedOutput()
	text := string(out)
	log, _ := os.ReadFile(filepath.Join(base, "log"))
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, text, log)
	}
	for _, want := range []string{
		"no space left on device: free some space on that disk, then try again\nexit 1\n== a later",
		"server    opentabs", "the token is whole\n", "exit 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s\n%s", want, text, log)
		}
	}
	if _, after, _ := strings.Cut(text, "== a change\n"); !strings.Contains(after, "free some space") || strings.Contains(after, ".tmp\n") {
		t.Errorf("the change ended with\n%s", after)
	}
}

// TestFewFiles checks a server without free file descriptors: connected clients continue,
// the log reports the problem once, and later new clients can connect.
func TestFewFiles(t *testing.T) {
	dirs := newHome(t)
	serve := exec.Command("sh", "-c", "ulimit -n 40; exec opentabs serve --log-format json")
	serve.Env = append(os.Environ(), "OPENTABS_HOME="+dirs.State, "OPENTABS_PORT=0")
	t.Cleanup(func() { endAll(dirs) })
	var stderr strings.Builder
	serve.Stderr = &stderr
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	untilStatus(t, dirs, func(httpapi.Status) bool { return true })
	c := startMCP(t, dirs)
	c.open()
	record, _ := dirs.ReadServer()
	var held []net.Conn
	for range 60 {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", record.Port))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	for i := range 20 {
		c.send(`{"jsonrpc":"2.0","id":"ping%d","method":"ping"}`, i)
		c.readUntil(fmt.Sprintf(`"id":"ping%d"`, i))
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	untilStatus(t, dirs, func(httpapi.Status) bool { return true })
	c.end()
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	if n := strings.Count(stderr.String(), "new connections are rejected"); n != 1 {
		t.Errorf("the log reports the problem %d times: %s", n, stderr.String())
	}
}
