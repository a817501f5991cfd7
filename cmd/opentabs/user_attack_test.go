package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/httpapi"
)

const otherUserID = 65534

// Without the right to change the owner of a directory, makeOtherUsersDir returns a directory of root.
func makeOtherUsersDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return "/usr"
	}
	dir := openTempDir(t)
	if err := errors.Join(os.Chmod(dir, 0o777), os.Chown(dir, otherUserID, otherUserID)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Other users can enter openTempDir's directory, so access depends only on the file modes that opentabs sets.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAttackByUser checks that another user of the machine cannot attack the
// installation.
func TestAttackByUser(t *testing.T) {
	t.Run("reading the files of the installation, such as the token and the log", attackFiles)
	t.Run("a state directory that the other user created first", attackPlantedHome)
	t.Run("a token, a server record and a list of plugins that the other user put into an open directory", attackPlantedFiles)
	t.Run("an extension folder that the other user created first", attackPlantedExtension)
	t.Run("searching command lines and environments of processes for the token", attackProcesses)
	t.Run("a program of the other user on the server's port", attackServerPort)
	t.Run("a server record with the address of the other user's program", attackServerRecord)
	t.Run("changing a plugin's files after it was added", attackPluginFiles)
}

func runCommandForOutput(t *testing.T, cmd *exec.Cmd) ([]byte, error) {
	t.Helper()
	var outBuffer bytes.Buffer
	cmd.Stdout, cmd.Stderr = &outBuffer, &outBuffer
	cmd.WaitDelay = time.Second // a server that the command started may keep the output open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(hangTimeout, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !limit.Stop() {
		t.Errorf("the command %v still ran at the time limit, want it to end", cmd.Args)
	}
	return outBuffer.Bytes(), err
}

func attackFiles(t *testing.T) {
	baseDir := openTempDir(t)
	dirs := config.Dirs{Config: filepath.Join(baseDir, "home"), State: filepath.Join(baseDir, "home")}
	unpackedDir := filepath.Join(baseDir, "unpacked")
	mustRunOpentabs(t, dirs, "extension", "install", "--dir", unpackedDir)
	c := startMCP(t, dirs)
	c.initialize()
	waitForStatus(t, dirs, func(httpapi.Status) bool { return true })
	mustRunOpentabs(t, dirs, "extension", "install")
	for _, rootDir := range []string{dirs.State, unpackedDir} {
		// Each file with secrets has a private mode, as a second protection besides its private directory.
		err := filepath.WalkDir(rootDir, func(path string, d fs.DirEntry, err error) error {
			var fileInfo fs.FileInfo
			if err == nil {
				fileInfo, err = d.Info()
			}
			if errors.Is(err, fs.ErrNotExist) && path != rootDir { // the server may have replaced a temporary file
				return nil
			}
			if err == nil && fileInfo.Mode().Perm()&0o077 != 0 {
				t.Errorf("mode of %s = %v, want no access for other users", path, fileInfo.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			findCmd := exec.Command("find", rootDir, "-type", "f")
			findCmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUserID, Gid: otherUserID}}
			if cmdOutput, err := findCmd.CombinedOutput(); err == nil || !strings.Contains(string(cmdOutput), "Permission denied") {
				t.Errorf("another user can list %s, want permission denied; output: %s", rootDir, cmdOutput)
			}
		}
	}
}

func attackPlantedHome(t *testing.T) {
	dir := makeOtherUsersDir(t)
	dirs := config.Dirs{Config: dir, State: dir}
	for _, args := range [][]string{{"serve"}, {"extension", "install"}, {"plugin", "list"}, {"mcp"}} {
		cmdOutput, err := runCommandForOutput(t, opentabsCommand(t, dirs, args...))
		if err == nil || !strings.Contains(string(cmdOutput), "belongs to another user, who could read and replace what is in it: choose another directory") {
			t.Errorf("opentabs %v with a foreign directory: error %v, output %s; want an error that names the owner", args, err, cmdOutput)
		}
	}
	if _, err := os.Stat(dirs.TokenFile()); err == nil {
		t.Error("opentabs wrote the token into the other user's directory, want no token")
	}
	// The server must also reject a symbolic link that leads to another user's directory.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if cmdOutput, err := runCommandForOutput(t, opentabsCommand(t, config.Dirs{Config: link, State: link}, "serve")); err == nil || !strings.Contains(string(cmdOutput), "belongs to another user") {
		t.Errorf("opentabs serve with a link to a foreign directory: error %v, output %s; want an error that names the owner", err, cmdOutput)
	}
}

func attackPlantedFiles(t *testing.T) {
	for _, name := range []string{"token", "plugins.json", "permissions.json", "audit.jsonl", "server.json", "config.json", "start.lock"} {
		dir := t.TempDir()
		dirs := config.Dirs{Config: dir, State: dir}
		if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o666)); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 { // without root, the test cannot change owners; opentabs then sets the mode 0700 and prints a notice
			if cmdOutput, _ := opentabsCommand(t, dirs, "plugin", "list").CombinedOutput(); !strings.Contains(string(cmdOutput), "its mode is now 0700") {
				t.Errorf("output of plugin list with a planted %s = %s, want a text that contains %q", name, cmdOutput, "its mode is now 0700")
			}
			continue
		}
		if err := os.Chown(filepath.Join(dir, name), otherUserID, otherUserID); err != nil {
			t.Fatal(err)
		}
		cmdOutput, err := opentabsCommand(t, dirs, "plugin", "list").CombinedOutput()
		if err == nil || !strings.Contains(string(cmdOutput), name+" belongs to another user, who put it there while the directory was open") {
			t.Errorf("opentabs with a planted %s: error %v, output %s; want an error that names the owner", name, err, cmdOutput)
		}
	}
}

func attackPlantedExtension(t *testing.T) {
	home := t.TempDir()
	dirs := config.Dirs{Config: home, State: home}
	dir := makeOtherUsersDir(t)
	if os.Geteuid() != 0 { // opentabs would reject /usr only because /usr is not empty
		dir = "/proc/1"
	}
	cmdOutput, err := opentabsCommandOnPort(t, dirs, 9527, "extension", "install", "--dir", dir).CombinedOutput()
	if err == nil {
		t.Errorf("opentabs wrote the extension into %s, want an error; output: %s", dir, cmdOutput)
	}
	if _, err := os.Stat(filepath.Join(dir, extensiondir.ConnectionFile)); err == nil {
		t.Error("opentabs wrote the connection file into the foreign folder, want no file")
	}
	// If the extension's folder belongs to the user, opentabs removes the access of other
	// users.
	openDir := filepath.Join(openTempDir(t), "open")
	if err := errors.Join(os.Mkdir(openDir, 0o777), os.Chmod(openDir, 0o777)); err != nil {
		t.Fatal(err)
	}
	if cmdOutput, err := opentabsCommandOnPort(t, dirs, 9527, "extension", "install", "--dir", openDir).CombinedOutput(); err != nil {
		t.Fatalf("extension install ended with the error %v, want nil; output: %s", err, cmdOutput)
	}
	if fileInfo, err := os.Stat(openDir); err != nil || fileInfo.Mode().Perm() != 0o700 {
		t.Errorf("mode of the extension's folder = %v, error %v; want 0700 and no error", fileInfo.Mode(), err)
	}
}

func attackProcesses(t *testing.T) {
	dirs := newInstallation(t)
	c := startMCP(t, dirs)
	c.initialize()
	serverStatus := waitForStatus(t, dirs, func(httpapi.Status) bool { return true })
	token, err := dirs.Token()
	if err != nil {
		t.Fatal(err)
	}
	ownProcessIDs := map[int]bool{serverStatus.PID: true, c.cmd.Process.Pid: true}
	for pid := range ownProcessIDs {
		for _, file := range []string{"cmdline", "environ"} {
			fileContent, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
			if err == nil && bytes.Contains(fileContent, []byte(token)) {
				t.Errorf("the %s of process %d contains the token, want no token", file, pid)
			}
		}
	}
}

func opentabsCommandOnPort(t *testing.T, dirs config.Dirs, port int, args ...string) *exec.Cmd {
	t.Helper()
	cmd := opentabsCommand(t, dirs, args...)
	cmd.Env = append(cmd.Env, "OPENTABS_PORT="+strconv.Itoa(port))
	return cmd
}

func mustRunOpentabs(t *testing.T, dirs config.Dirs, args ...string) {
	t.Helper()
	if cmdOutput, err := opentabsCommandOnPort(t, dirs, 9527, args...).CombinedOutput(); err != nil {
		t.Fatalf("opentabs %v ended with the error %v, want nil; output: %s", args, err, cmdOutput)
	}
}

func startFakeServer(t *testing.T) (port int, receivedText func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // the mutex guards the variable receivedBytes
	var receivedBytes bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				buf := make([]byte, 4096)
				for {
					n, err := conn.Read(buf)
					mu.Lock()
					receivedBytes.Write(buf[:n])
					mu.Unlock()
					if err != nil {
						return
					}
					body := fmt.Sprintf(`{"ok":true,"version":"0.1.0","pid":%d,"proof":"%064d"}`, os.Getpid(), 0)
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().(*net.TCPAddr).Port, func() string {
		mu.Lock()
		defer mu.Unlock()
		return receivedBytes.String()
	}
}

func attackServerPort(t *testing.T) {
	dirs := newInstallation(t)
	token, err := dirs.Token()
	if err != nil {
		t.Fatal(err)
	}
	port, receivedBytes := startFakeServer(t)
	for _, args := range [][]string{
		{"status"}, {"calls"}, {"calls", "--follow"}, {"calls", "cancel", "x"}, {"call", "messages__echo"}, {"mcp"},
		{"extension", "install"}, {"plugin", "remove", "messages"}, {"serve"},
	} {
		cmd := opentabsCommandOnPort(t, dirs, port, args...)
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
		cmdOutput, _ := runCommandForOutput(t, cmd)
		if strings.Contains(string(cmdOutput), "is already serving") {
			t.Errorf("opentabs %v accepted the other program as its server, want a rejection; output: %s", args, cmdOutput)
		}
	}
	receivedText := receivedBytes()
	if strings.Contains(receivedText, token) || strings.Contains(receivedText, "messages") || strings.Contains(receivedText, "initialize") {
		t.Errorf("data that the other program received, want no token, tool call or session:\n%s", receivedText)
	}
	if n := strings.Count(receivedText, "challenge="); n < 7 {
		t.Errorf("%d commands requested a proof, want at least 7; data that the other program received:\n%s", n, receivedText)
	}
}

func attackServerRecord(t *testing.T) {
	dirs := newInstallation(t)
	port, receivedText := startFakeServer(t)
	if err := dirs.WriteServer(config.Server{PID: os.Getpid(), Port: port, Version: "0.1.0"}); err != nil {
		t.Fatal(err)
	}
	// Although the fake server of another user runs, the user can start a real server.
	c := startMCP(t, dirs)
	c.initialize()
	c.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	if lines := c.readUntilText(`"id":"list"`); !strings.Contains(lines[len(lines)-1], "messages__echo") {
		t.Errorf("answer of the real server = %q, want a text that contains %q", lines, "messages__echo")
	}
	token, err := dirs.Token()
	if err != nil {
		t.Fatal(err)
	}
	if receivedText := receivedText(); strings.Contains(receivedText, token) || strings.Contains(receivedText, "tools/list") {
		t.Errorf("data that the other program received, want no token and no request:\n%s", receivedText)
	}
}

func attackPluginFiles(t *testing.T) {
	for _, file := range []string{"package.json", "dist/tools.json", "dist/adapter.iife.js"} {
		dirs := newInstallation(t)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(dirs.State), "messages", file), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, "\n ")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		c := startMCP(t, dirs)
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		if lines := c.readUntilText(`"id":"list"`); strings.Contains(lines[len(lines)-1], "messages__") {
			t.Errorf("%s was changed, but the tools of the plugin are still listed, want no tools; answer: %s", file, lines[len(lines)-1])
		}
	}
}
