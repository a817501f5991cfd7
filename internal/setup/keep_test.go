package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var configTexts = map[string][]string{
	"cursor": {
		"", "\n", " \n\t\n", "{}", "{}\n\n\n", "// only a comment\n", `{"mcpServers": null}`, `{"mcpServers": {}}`,
		"{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\", \"unknown\": [1.50, 1e3, 12345678901234567890]}, // mine\n\t},\n\t/* end */\n}",
		`{"mcpServers":{"other":{"command":"x"}},"big":9007199254740993}`,
		"{\n    \"a\": 1,\n    // servers\n    \"mcpServers\": {\n        // first\n        \"other\": {} // last\n    } // behind\n}\n",
	},
	"codex": {
		"", "\n\n", "# only a comment", "model = \"x\" # mine\n\n\n[mcp_servers.other]\ncommand = 'y'\nenv = { A = \"1\" }\n\n# the end\n",
		"text = \"\"\"\n[tui]\n\"\"\"\n[tui]\nx = 1.50\nt = 2026-01-02T03:04:05Z\n", "mcp_servers.other.command = \"x\"\n",
	},
	"goose": {
		"", "# only a comment\n", "---\nGOOSE_MODEL: x # mine\n", "extensions:\nGOOSE_MODEL: x\n", "extensions: {} # none yet\nGOOSE_MODEL: x\n", "extensions: null\n",
		"extensions:\n    other:\n        enabled: true\n        args: [a, b]\n    # the last\nGOOSE_MODEL: &m x\nGOOSE_LEAD: *m\ntext: |\n  extensions:\n    opentabs: 1\n",
	},
}

func newlineAndBOMVariants(configText string) []string {
	crlfText := strings.ReplaceAll(configText, "\n", "\r\n")
	return []string{configText, crlfText, "\ufeff" + configText, "\ufeff" + crlfText}
}

func TestChangeKeepsOtherContent(t *testing.T) {
	for id, wantedTexts := range configTexts {
		for _, configText := range wantedTexts {
			for _, textBefore := range newlineAndBOMVariants(configText) {
				m := newMachine(t)
				client := clientOf(t, m, id)
				writeConfig(t, client, textBefore)
				writer := Writer{Dir: filepath.Join(m.Home, "state")}
				fileChange, err := PlanChange(client, testCommand)
				if err != nil {
					t.Errorf("%s: PlanChange of %q returned the error %v, want none", id, textBefore, err)
					continue
				}
				if _, err := writer.Write(fileChange); err != nil {
					t.Errorf("%s: Write of %q returned the error %v, want none", id, textBefore, err)
					continue
				}
				textAfter := readText(t, client.File)
				if FindClientToken(client, "otc_") != "otc_1" {
					t.Errorf("%s: setup changed %q to %q, want the token otc_1 in it", id, textBefore, textAfter)
				}
				if strings.Contains(textBefore, "\r\n") && strings.Contains(strings.ReplaceAll(textAfter, "\r\n", ""), "\n") {
					t.Errorf("%s: setup changed %q to %q, want only Windows line ends", id, textBefore, textAfter)
				}
				if strings.HasPrefix(textBefore, "\ufeff") != strings.HasPrefix(textAfter, "\ufeff") {
					t.Errorf("%s: setup changed %q to %q, want the byte order mark unchanged", id, textBefore, textAfter)
				}
				for line := range strings.Lines(textBefore) {
					if comment := extractComment(line); comment != "" && !strings.Contains(textAfter, comment) {
						t.Errorf("%s: setup changed %q to %q, want the comment %q kept", id, textBefore, textAfter, comment)
					}
				}
				if secondChange, err := PlanChange(client, testCommand); err != nil || !secondChange.IsEmpty() || !bytes.Equal(secondChange.contentBefore, secondChange.contentAfter) {
					t.Errorf("%s: a second change of %q = %v\n%s\nwant none", id, textAfter, err, secondChange.Diff())
				}
				if undoReport, err := writer.Undo(client); err != nil || undoReport == "" || readText(t, client.File) != textBefore {
					t.Errorf("%s: undo of %q returned %q, error %v, content = %q; want the earlier content", id, textBefore, undoReport, err, readText(t, client.File))
				}
			}
		}
	}
}

func extractComment(line string) string {
	for _, comment := range []string{"//", "/*", "#"} {
		if i := strings.Index(line, comment); i >= 0 {
			return strings.TrimRight(line[i:], "\r\n")
		}
	}
	return ""
}

func TestUndoKeepsComments(t *testing.T) {
	for id, wantedTexts := range configTexts {
		for _, textBefore := range wantedTexts {
			m := newMachine(t)
			client := clientOf(t, m, id)
			writeConfig(t, client, textBefore)
			writer := Writer{Dir: filepath.Join(m.Home, "state")}
			fileChange, err := PlanChange(client, testCommand)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := writer.Write(fileChange); err != nil {
				t.Fatal(err)
			}
			writeConfig(t, client, readText(t, client.File)+"\n")
			if undoReport, err := writer.Undo(client); err != nil || !strings.HasSuffix(undoReport, "and the rest of the file stays") {
				t.Errorf("%s: undo of %q returned %q, error %v; want that the rest of the file stays", id, textBefore, undoReport, err)
			}
			textAfter := readText(t, client.File)
			for line := range strings.Lines(textBefore) {
				if comment := extractComment(line); comment != "" && !strings.Contains(textAfter, comment) {
					t.Errorf("%s: undo wrote %q for %q, want the comment %q kept", id, textAfter, textBefore, comment)
				}
			}
			oldConfig, beforeErr := client.format.decode([]byte(textBefore))
			configNow, afterErr := client.format.decode([]byte(textAfter))
			if len(strings.TrimSpace(textBefore)) > 0 && (beforeErr != nil || afterErr != nil || !reflect.DeepEqual(removeServerEntry(oldConfig, client.serversPath), removeServerEntry(configNow, client.serversPath))) {
				t.Errorf("%s: undo wrote %q for %q, want all other values unchanged; parse errors %v and %v", id, textAfter, textBefore, beforeErr, afterErr)
			}
		}
	}
}

func TestUserFieldsAreKept(t *testing.T) {
	for id, c := range map[string]struct {
		textBefore string
		keptFields []string
	}{
		"cursor": {`{"mcpServers": {"opentabs": {"command": "/old", "args": [], "autoApprove": ["browser_find"], /* mine */ "env": {"OPENTABS_HOME": "/old", "OPENTABS_PORT": "9000"}}}}`, []string{`"autoApprove": ["browser_find"]`, "/* mine */", `"OPENTABS_PORT": "9000"`}},
		"codex":  {"[mcp_servers.opentabs]\ncommand = '/old'\nstartup_timeout_sec = 40\n\n[mcp_servers.opentabs.env]\nOPENTABS_HOME = '/old'\nOPENTABS_PORT = '9000'\n", []string{"startup_timeout_sec = 40", "OPENTABS_PORT = '9000'"}},
		"goose":  {"extensions:\n  opentabs:\n    cmd: /old\n    timeout: 900\n    description: mine\n    envs:\n      OPENTABS_HOME: /old\n      OPENTABS_PORT: \"9000\"\n", []string{"timeout: 900", "description: mine", `OPENTABS_PORT: "9000"`}},
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, c.textBefore)
		fileChange, err := PlanChange(client, testCommand)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Writer{Dir: filepath.Join(m.Home, "state")}).Write(fileChange); err != nil {
			t.Fatal(err)
		}
		textAfter := readText(t, client.File)
		for _, want := range append(c.keptFields, "/bin/opentabs", "otc_1") {
			if !strings.Contains(textAfter, want) {
				t.Errorf("%s: configuration =\n%s\nwant it to contain %q", id, textAfter, want)
			}
		}
		if strings.Contains(textAfter, "/old") {
			t.Errorf("%s: want a configuration without the old command, got\n%s", id, textAfter)
		}
	}
	// Fields for a connection over HTTP do not apply to a command, so setup removes them.
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writeConfig(t, client, `{"mcpServers": {"opentabs": {"url": "http://127.0.0.1:9527/mcp"}}}`)
	fileChange, err := PlanChange(client, testCommand)
	if err != nil || strings.Contains(string(fileChange.contentAfter), "url") {
		t.Errorf("change of a server over HTTP = %s, error %v; want no url", fileChange.contentAfter, err)
	}
}

func TestMultipleYAMLDocuments(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "goose")
	writeConfig(t, client, "a: 1\n---\nb: 2\n")
	if _, err := PlanChange(client, testCommand); err == nil || !strings.Contains(err.Error(), "add the server by hand") {
		t.Errorf("PlanChange of a file with two YAML documents returned %v, want the advice to add the server by hand", err)
	}
}

func TestDanglingConfigLink(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	target := filepath.Join(m.Home, "dotfiles", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(client.File), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "dotfiles", "mcp.json"), client.File); err != nil {
		t.Fatal(err)
	}
	fileChange, err := PlanChange(client, testCommand)
	if err != nil {
		t.Fatal(err)
	}
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	if _, err := writer.Write(fileChange); err != nil || !fileExists(target) {
		t.Fatalf("Write through a link returned %v, target exists: %t; want no error and a target", err, fileExists(target))
	}
	if _, err := writer.Undo(client); err != nil || fileExists(target) {
		t.Errorf("Undo through a link returned %v, target exists: %t; want no error and no target", err, fileExists(target))
	}
	if fileInfo, err := os.Lstat(client.File); err != nil || fileInfo.Mode()&os.ModeSymlink == 0 {
		t.Errorf("link after Undo = %v, error %v; want a symbolic link", fileInfo, err)
	}
}

func TestUndoWithDamagedRecord(t *testing.T) {
	for _, makeBackupUnusable := range []func(writer Writer, backup string) error{
		func(writer Writer, _ string) error { return os.WriteFile(writer.recordsFile(), []byte("{"), 0o600) },
		func(writer Writer, _ string) error { return os.WriteFile(writer.recordsFile(), []byte("null"), 0o600) },
		func(_ Writer, backup string) error { return os.Remove(backup) },
	} {
		m := newMachine(t)
		client := clientOf(t, m, "cursor")
		writeConfig(t, client, `{"a": 1}`)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		fileChange, err := PlanChange(client, testCommand)
		if err != nil {
			t.Fatal(err)
		}
		backup, err := writer.Write(fileChange)
		if err != nil {
			t.Fatal(err)
		}
		if err := makeBackupUnusable(writer, backup); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Undo(client); err != nil || strings.Contains(readText(t, client.File), "opentabs") || !strings.Contains(readText(t, client.File), `"a": 1`) {
			t.Errorf("Undo with a damaged record returned %v, content of the configuration = %q; want only opentabs removed", err, readText(t, client.File))
		}
	}
}
