package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func newMachine(t *testing.T) Machine {
	t.Helper()
	return Machine{OS: "linux", Home: t.TempDir(), Getenv: func(string) string { return "" }, LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
}

func clientOf(t *testing.T, m Machine, id string) Client {
	t.Helper()
	clients, _ := Clients(m)
	for _, c := range clients {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("setup does not support the client %s, want a supported client", id)
	return Client{}
}

func writeConfig(t *testing.T, c Client, configText string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.File, []byte(configText), 0o640); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	configBytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(configBytes)
}

var testCommand = Command{Path: "/bin/opentabs", Args: []string{"mcp"}, Env: map[string]string{"OPENTABS_CLIENT_TOKEN": "otc_1"}}

func TestSetupAddsServerToEachClient(t *testing.T) {
	for id, c := range map[string]struct{ textBefore, textAfter string }{
		"claude-code": {
			"{\n  \"numStartups\": 4,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  },\n  \"projects\": {}\n}\n",
			"{\n  \"numStartups\": 4,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n    \"opentabs\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/opentabs\",\n      \"args\": [\n        \"mcp\"\n      ],\n      \"env\": {\n        \"OPENTABS_CLIENT_TOKEN\": \"otc_1\"\n      }\n    }\n  },\n  \"projects\": {}\n}\n",
		},
		"zed": {
			"// Zed settings\n{\n  \"theme\": \"One\", // mine\n}\n",
			"// Zed settings\n{\n  \"theme\": \"One\", // mine\n  \"context_servers\": {\n    \"opentabs\": {\n      \"command\": \"/bin/opentabs\",\n      \"args\": [\n        \"mcp\"\n      ],\n      \"env\": {\n        \"OPENTABS_CLIENT_TOKEN\": \"otc_1\"\n      }\n    }\n  },\n}\n",
		},
		"opencode": {
			"\ufeff{}\n",
			"\ufeff{\n  \"mcp\": {\n    \"opentabs\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"/bin/opentabs\",\n        \"mcp\"\n      ],\n      \"enabled\": true,\n      \"environment\": {\n        \"OPENTABS_CLIENT_TOKEN\": \"otc_1\"\n      }\n    }\n  }\n}\n",
		},
		"codex": {
			"# my settings\nmodel = \"o9\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = \"dark\"\n",
			"# my settings\nmodel = \"o9\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = \"dark\"\n\n[mcp_servers.opentabs]\ncommand = '/bin/opentabs'\nargs = ['mcp']\n\n[mcp_servers.opentabs.env]\nOPENTABS_CLIENT_TOKEN = 'otc_1'\n",
		},
		"goose": {
			"# Goose\nextensions:\n  # built in\n  developer:\n    enabled: true\n    args: [a, b]\nGOOSE_MODEL: x\n",
			"# Goose\nextensions:\n  opentabs:\n    enabled: true\n    type: stdio\n    name: opentabs\n    cmd: /bin/opentabs\n    args:\n      - mcp\n    envs:\n      OPENTABS_CLIENT_TOKEN: otc_1\n    timeout: 300\n  # built in\n  developer:\n    enabled: true\n    args: [a, b]\nGOOSE_MODEL: x\n",
		},
	} {
		t.Run(id, func(t *testing.T) {
			m := newMachine(t)
			client := clientOf(t, m, id)
			writeConfig(t, client, c.textBefore)
			fileChange, err := PlanChange(client, testCommand)
			if err != nil {
				t.Fatal(err)
			}
			if fileChange.IsEmpty() || !strings.Contains(fileChange.Diff(), "opentabs") {
				t.Errorf("diff of the change = %s, want a change that adds opentabs", fileChange.Diff())
			}
			writer := Writer{Dir: filepath.Join(m.Home, "state")}
			backup, err := writer.Write(fileChange)
			if err != nil {
				t.Fatal(err)
			}
			if got := readText(t, client.File); got != c.textAfter {
				t.Errorf("configuration after setup =\n%s\nwant\n%s", got, c.textAfter)
			}
			if got := readText(t, backup); got != c.textBefore {
				t.Errorf("content of the backup = %q, want %q", got, c.textBefore)
			}
			if fileInfo, err := os.Stat(client.File); err != nil || fileInfo.Mode().Perm() != 0o640 {
				t.Errorf("mode of the configuration = %v, error %v, want 0640", fileInfo.Mode(), err)
			}
			if got := FindClientToken(client, "otc_"); got != "otc_1" {
				t.Errorf("token in the configuration = %q, want otc_1", got)
			}
			if secondChange, err := PlanChange(client, testCommand); err != nil || !secondChange.IsEmpty() {
				t.Errorf("second change = %v\n%s\nwant an empty change", err, secondChange.Diff())
			}
			secondChange, err := PlanChange(client, Command{Path: "/opt/opentabs", Args: []string{"mcp"}, Env: map[string]string{"OPENTABS_CLIENT_TOKEN": "otc_2"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := writer.Write(secondChange); err != nil {
				t.Fatal(err)
			}
			if got := readText(t, client.File); !strings.Contains(got, "/opt/opentabs") || strings.Contains(got, "/bin/opentabs") || strings.Contains(got, "otc_1") {
				t.Errorf("configuration after a change of the command =\n%s\nwant /opt/opentabs without the earlier command and token", got)
			}
			if undoReport, err := writer.Undo(client); err != nil || !strings.HasSuffix(undoReport, "has its earlier content") {
				t.Errorf("Undo returned %q, error %v; want that the file has its earlier content", undoReport, err)
			}
			if got := readText(t, client.File); got != c.textBefore {
				t.Errorf("configuration after undo =\n%s\nwant\n%s", got, c.textBefore)
			}
		})
	}
}

func TestUndoOfChangedFile(t *testing.T) {
	for id, lines := range map[string][2]string{
		"cursor": {"{\n  \"a\": 1\n}\n", "\"a\": 2"}, "codex": {"a = 1\n", "a = 2"}, "goose": {"a: 1\n", "a: 2"},
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, lines[0])
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		fileChange, err := PlanChange(client, testCommand)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(fileChange); err != nil {
			t.Fatal(err)
		}
		writeConfig(t, client, strings.Replace(readText(t, client.File), strings.TrimSpace(strings.Trim(lines[0], "{}\n")), lines[1], 1))
		if undoReport, err := writer.Undo(client); err != nil || !strings.HasSuffix(undoReport, "and the rest of the file stays") {
			t.Errorf("%s: Undo returned %q, error %v; want that the rest of the file stays", id, undoReport, err)
		}
		if got := readText(t, client.File); strings.Contains(got, "opentabs") || !strings.Contains(got, lines[1]) {
			t.Errorf("%s: configuration after undo =\n%s\nwant the user's line without opentabs", id, got)
		}
	}
}

func TestSetupCreatesConfigFile(t *testing.T) {
	m := newMachine(t)
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	for _, id := range []string{"cursor", "codex", "goose"} {
		client := clientOf(t, m, id)
		fileChange, err := PlanChange(client, testCommand)
		if err != nil {
			t.Fatal(err)
		}
		if backup, err := writer.Write(fileChange); err != nil || backup != "" {
			t.Errorf("%s: Write returned %q, error %v, want no backup", id, backup, err)
		}
		if FindClientToken(client, "otc_") != "otc_1" {
			t.Errorf("%s: configuration after setup =\n%s\nwant the token otc_1", id, readText(t, client.File))
		}
		if _, err := writer.Undo(client); err != nil || fileExists(client.File) {
			t.Errorf("%s: Undo returned %v, and the file exists: %t; want no error and no file", id, err, fileExists(client.File))
		}
	}
}

func TestReadOnlyFile(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writeConfig(t, client, "{}")
	if err := os.Chmod(client.File, 0o440); err != nil {
		t.Fatal(err)
	}
	fileChange, err := PlanChange(client, testCommand)
	if err != nil {
		t.Fatal(err)
	}
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	if _, err := writer.Write(fileChange); err == nil || !strings.Contains(err.Error(), "is read-only: ") || readText(t, client.File) != "{}" {
		t.Errorf("Write of a read-only file returned %v, content = %q; want an error and the content {}", err, readText(t, client.File))
	}
}

func TestSymlinkedConfigFile(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "gemini-cli")
	target := filepath.Join(m.Home, "dotfiles.json")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(client.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, client.File); err != nil {
		t.Fatal(err)
	}
	fileChange, err := PlanChange(client, testCommand)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Writer{Dir: filepath.Join(m.Home, "state")}).Write(fileChange); err != nil {
		t.Fatal(err)
	}
	if fileInfo, err := os.Lstat(client.File); err != nil || fileInfo.Mode()&os.ModeSymlink == 0 || !strings.Contains(readText(t, target), "opentabs") {
		t.Errorf("mode of the link = %v, error %v; content of its target = %s; want a link whose target contains opentabs", fileInfo.Mode(), err, readText(t, target))
	}
}

func TestInstalledClients(t *testing.T) {
	m := newMachine(t)
	m.LookPath = func(name string) (string, error) {
		if name == "claude" {
			return "/bin/claude", nil
		}
		return "", os.ErrNotExist
	}
	if err := os.MkdirAll(filepath.Join(m.Home, ".cursor"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeConfig(t, clientOf(t, m, "opencode"), "{}")
	var installedIDs []string
	clients, isInstalled := Clients(m)
	for _, c := range clients {
		if isInstalled(c) {
			installedIDs = append(installedIDs, c.ID)
		}
	}
	if got := strings.Join(installedIDs, " "); got != "claude-code cursor opencode" {
		t.Errorf("installed clients = %s, want claude-code cursor opencode", got)
	}
}

func TestVSCodeConfigPaths(t *testing.T) {
	for goos, dir := range map[string]string{"linux": ".config", "darwin": "Library/Application Support", "windows": "AppData/Roaming"} {
		m := newMachine(t)
		m.OS = goos
		for id, folder := range map[string]string{"vscode": "Code", "vscode-insiders": "Code - Insiders", "vscodium": "VSCodium"} {
			want := filepath.Join(m.Home, filepath.FromSlash(dir), folder, "User", "mcp.json")
			if got := clientOf(t, m, id).File; got != want {
				t.Errorf("the configuration of %s on %s is %s, want %s", id, goos, got, want)
			}
		}
	}
}

func TestVerifyFailures(t *testing.T) {
	for script, want := range map[string]string{
		"exit 1":              "the server ended without an answer",
		"echo hello; cat":     `the server wrote something else than MCP: "hello\n"`,
		"echo no >&2; exit 1": "the server ended without an answer: no",
		`echo '{"error":{"message":"the port is in use"}}'`: "the port is in use",
	} {
		if _, err := Verify(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", script}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Verify of the command %q returned %v, want %q", script, err, want)
		}
	}
	if _, err := Verify(t.Context(), Command{Path: "/missing/opentabs"}); err == nil {
		t.Error("Verify of a missing program succeeded, want an error")
	}
}

func TestClaudeConfigDir(t *testing.T) {
	m := newMachine(t)
	if c := clientOf(t, m, "claude-code"); c.File != filepath.Join(m.Home, ".claude.json") {
		t.Errorf("configuration without CLAUDE_CONFIG_DIR = %s, want .claude.json in the home directory", c.File)
	}
	dir := filepath.Join(m.Home, "claude")
	m.Getenv = func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": dir}[name] }
	for _, isInstalled := range []bool{false, true} {
		if isInstalled {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c := clientOf(t, m, "claude-code")
		if _, isAnyInstalled := Clients(m); c.File != filepath.Join(dir, ".claude.json") || isAnyInstalled(c) != isInstalled {
			t.Errorf("configuration with CLAUDE_CONFIG_DIR = %s, installed: %t, want installed: %t", c.File, isAnyInstalled(c), isInstalled)
		}
	}
}

func TestConcurrentSetupWaitsForLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Writer{Dir: filepath.Join(t.TempDir(), "setup")}
		unlock, err := w.Lock()
		if err != nil {
			t.Fatal(err)
		}
		const want = "another setup is running: wait until it ends, then run the command again"
		if _, err := w.Lock(); err == nil || err.Error() != want {
			t.Errorf("the lock of a second setup returned %v, want %q", err, want)
		}
		time.AfterFunc(lockTimeout/2, unlock)
		unlock, err = w.Lock()
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	})
}
