package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/freeport"
	"opentabs/internal/httpapi"
)

func findFreePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func newHome(t *testing.T) config.Dirs {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	dirs := config.Dirs{Config: home, State: home}
	_, err := dirs.CreateDirs()
	if err == nil {
		_, err = dirs.Token()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// The server needs write access to the home directory only when it starts for the first time.
func TestServeWithReadOnlyHome(t *testing.T) {
	dirs := newHome(t)
	if err := os.Chmod(dirs.State, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dirs.State, 0o700) })
	port := fmt.Sprintf("OPENTABS_PORT=%d", findFreePort(t))
	// The root user can write to read-only directories, so the test removes this
	// capability from the server process.
	setprivPath, err := exec.LookPath("setpriv")
	isLimited := err == nil || os.Geteuid() != 0
	command := func(args ...string) *exec.Cmd {
		cmd := opentabsCommand(t, dirs, args...)
		if os.Geteuid() == 0 && isLimited {
			restrictedCmd := exec.Command(setprivPath, append([]string{"--bounding-set=-dac_override,-dac_read_search", cmd.Path}, args...)...)
			restrictedCmd.Env = cmd.Env
			cmd = restrictedCmd
		}
		cmd.Env = append(cmd.Env, port)
		return cmd
	}
	serveCmd := command("serve", "--log-format", "json")
	var stderr strings.Builder
	serveCmd.Stderr = &stderr
	if err := serveCmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForOutput(t, command, "^server    opentabs", "status")
	if cmdOutput, err := command("plugin", "remove", "x").CombinedOutput(); err == nil || !strings.Contains(string(cmdOutput), "there is no plugin") && !strings.Contains(string(cmdOutput), "check that you can read and write there") {
		t.Errorf("plugin remove of an unknown plugin: error %v, output %s; want an error with its reason", err, cmdOutput)
	}
	if err := serveCmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serveCmd.Wait(); err != nil {
		t.Errorf("opentabs serve ended with the error %v, want nil; stderr: %s", err, stderr.String())
	}
	// `opentabs mcp` starts a server if none is running.
	mcpCmd := command("mcp")
	mcpCmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n")
	if cmdOutput, err := mcpCmd.Output(); err != nil || !strings.Contains(string(cmdOutput), `"id":7,"result":{}`) {
		t.Errorf("opentabs mcp printed %q, error %v; want an empty result for the request 7", cmdOutput, err)
	}
	if isLimited && !strings.Contains(stderr.String(), "the state directory cannot be written; the server runs") {
		t.Errorf("log of the server = %s, want a report that the state directory cannot be written", stderr.String())
	}
}

// In the argument want, a ^ matches the start of a line.
func waitForOutput(t *testing.T, command func(...string) *exec.Cmd, want string, args ...string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.After(hangTimeout); ; {
		cmdOutput, _ := command(args...).CombinedOutput() // the exit code is not checked
		if strings.Contains("\n"+string(cmdOutput), strings.Replace(want, "^", "\n", 1)) {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("opentabs %v did not print %q within the time limit; last output: %s", args, want, cmdOutput)
		}
	}
}

const fullDiskScript = `
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

// On a system where the test is not allowed to mount a disk, TestCommandsReportFullDisk checks only the error text.
func TestCommandsReportFullDisk(t *testing.T) {
	errorText, code := cli.ExplainError(t.Context(), fmt.Errorf("write the test file: %w", syscall.ENOSPC))
	if code != cli.ExitFailed || !strings.HasSuffix(errorText, "no space left on device: free some space on that disk, then try again") {
		t.Errorf("error text = %q and exit code = %d, want the advice to free some space and the code for failures", errorText, code)
	}
	if exec.Command("unshare", "-m", "true").Run() != nil {
		t.Log("this system allows no mount, so the test checked only the error text")
		return
	}
	baseDir := t.TempDir()
	diskDir := filepath.Join(baseDir, "disk")
	if err := os.Mkdir(diskDir, 0o700); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(baseDir, "messages")
	writePlugin(t, plugin)
	t.Cleanup(func() { killProcesses(config.Dirs{State: filepath.Join(diskDir, "home")}) })
	cmd := exec.Command("unshare", "-m", "sh", "-c", fullDiskScript, "sh", diskDir, fmt.Sprint(findFreePort(t)), plugin)
	cmdOutput, err := cmd.CombinedOutput()
	output := string(cmdOutput)
	log, _ := os.ReadFile(filepath.Join(baseDir, "log"))
	if err != nil {
		t.Fatalf("the script on the full disk ended with the error %v, want nil; output: %s\nlog: %s", err, output, log)
	}
	for _, want := range []string{
		"no space left on device: free some space on that disk, then try again\nexit 1\n== a later",
		"server    opentabs", "the token is whole\n", "exit 0\n",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the output lacks the text %q:\n%s\nlog:\n%s", want, output, log)
		}
	}
	if _, outputAfterChange, _ := strings.Cut(output, "== a change\n"); !strings.Contains(outputAfterChange, "free some space") || strings.Contains(outputAfterChange, ".tmp\n") {
		t.Errorf("output of the change on the full disk, want the advice to free space and no temporary file:\n%s", outputAfterChange)
	}
}

// When descriptors run out, connected clients must continue to work, and the server must log the problem once. New
// clients must be able to connect when the server has free file descriptors again.
func TestServerWithoutFreeFileDescriptors(t *testing.T) {
	dirs := newHome(t)
	serveCmd := exec.Command("sh", "-c", "ulimit -n 40; exec opentabs serve --log-format json")
	serveCmd.Env = append(os.Environ(), "OPENTABS_HOME="+dirs.State, "OPENTABS_PORT=0")
	t.Cleanup(func() { killProcesses(dirs) })
	var stderr strings.Builder
	serveCmd.Stderr = &stderr
	if err := serveCmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForStatus(t, dirs, func(httpapi.Status) bool { return true })
	c := startMCP(t, dirs)
	c.initialize()
	record, _ := dirs.ReadServer()
	var conns []net.Conn
	for range 60 {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", record.Port))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	for i := range 20 {
		c.send(`{"jsonrpc":"2.0","id":"ping%d","method":"ping"}`, i)
		c.readUntilText(fmt.Sprintf(`"id":"ping%d"`, i))
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	waitForStatus(t, dirs, func(httpapi.Status) bool { return true })
	c.closeInput()
	if err := serveCmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serveCmd.Wait(); err != nil {
		t.Errorf("opentabs serve ended with the error %v, want nil", err)
	}
	if n := strings.Count(stderr.String(), "new connections are rejected"); n != 1 {
		t.Errorf("the log reports rejected connections %d times, want 1; log: %s", n, stderr.String())
	}
}
