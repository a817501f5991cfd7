package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var otherCommand = Command{Path: "/opt/opentabs", Args: []string{"mcp"}, Env: map[string]string{"OPENTABS_CLIENT_TOKEN": "otc_2"}}

func setUpClient(t *testing.T, w Writer, c Client, command Command) {
	t.Helper()
	fileChange, err := PlanChange(c, command)
	if err == nil {
		_, err = w.Write(fileChange)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A backup from the second of two setups contains opentabs, so undo must not restore that backup.
func TestUndoAfterChangeBetweenSetups(t *testing.T) {
	for id, c := range map[string]struct{ textBefore, userEditedText, textAfter string }{
		"claude-code": {"{\n  \"a\": 1\n}\n", "\"a\": 2", "{\n  \"a\": 2,\n  \"mcpServers\": {\n  }\n}\n"},
		"codex":       {"a = 1\n", "a = 2", "a = 2\n\n"},
		"goose":       {"a: 1\n", "a: 2", "a: 2\nextensions:\n"},
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, c.textBefore)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		writeConfig(t, client, strings.Replace(readText(t, client.File), strings.TrimSpace(strings.Trim(c.textBefore, "{}\n")), c.userEditedText, 1))
		setUpClient(t, writer, client, otherCommand)
		if undoReport, err := writer.Undo(client); err != nil || undoReport != "opentabs is removed from "+client.File+", and the rest of the file stays" {
			t.Errorf("%s: Undo returned %q, error %v, want that only opentabs is removed", id, undoReport, err)
		}
		if got := readText(t, client.File); got != c.textAfter {
			t.Errorf("%s: configuration after undo = %q, want %q", id, got, c.textAfter)
		}
	}
}

func TestUndoOfNewFileChangedBetweenSetups(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "codex")
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	setUpClient(t, writer, client, testCommand)
	writeConfig(t, client, "a = 2\n\n"+readText(t, client.File))
	setUpClient(t, writer, client, otherCommand)
	if _, err := writer.Undo(client); err != nil || strings.TrimSpace(readText(t, client.File)) != "a = 2" {
		t.Errorf("Undo returned %v, content = %q, want only the line of the user", err, readText(t, client.File))
	}
}

func TestUndoRestoresServerOfUser(t *testing.T) {
	for id, textBefore := range map[string]string{
		"cursor": "{\"mcpServers\": {\"opentabs\":{\"type\":\"http\",\"url\":\"http://127.0.0.1:9515/mcp\"} // mine\n, \"other\": {}}}",
		"codex":  "[mcp_servers.opentabs] # mine\ncommand = \"/old\"\n",
		"goose":  "extensions:\n  opentabs: # mine\n    cmd: /old\n",
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, textBefore)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		setUpClient(t, writer, client, otherCommand)
		if undoReport, err := writer.Undo(client); err != nil || !strings.HasSuffix(undoReport, "has its earlier content") || readText(t, client.File) != textBefore {
			t.Errorf("%s: Undo returned %q, error %v, content = %q, want %q", id, undoReport, err, readText(t, client.File), textBefore)
		}

		setUpClient(t, writer, client, testCommand)
		writeConfig(t, client, readText(t, client.File)+"\n")
		setUpClient(t, writer, client, otherCommand)
		writeConfig(t, client, readText(t, client.File)+"\n")
		undoReport, err := writer.Undo(client)
		_, backup, ok := strings.Cut(undoReport, "; the server opentabs from before setup is in ")
		if err != nil || !ok || readText(t, backup) != textBefore || strings.Contains(readText(t, client.File), "/opt/opentabs") {
			t.Errorf("%s: Undo of a changed file returned %q, error %v, content = %q; want no setup command, and the earlier content in the backup", id, undoReport, err, readText(t, client.File))
		}
	}
}

func TestUndoKeepsServerOfUser(t *testing.T) {
	for id, configOfUser := range map[string]string{
		"codex":  "mcp_servers.opentabs.command = \"x\"\n",
		"cursor": `{"mcpServers": {"opentabs": {"command": "x", "env": {"OPENTABS_CLIENT_TOKEN": "otc_1"}}}}`,
		"goose":  "extensions: {opentabs: {cmd: x}}\n",
	} {
		for _, isRecorded := range []bool{false, true} {
			m := newMachine(t)
			client := clientOf(t, m, id)
			writer := Writer{Dir: filepath.Join(m.Home, "state")}
			configText := configOfUser
			if isRecorded {
				setUpClient(t, writer, client, testCommand)
				configText = strings.Replace(configOfUser, "OPENTABS_CLIENT_TOKEN", "OTHER", 1)
			}
			writeConfig(t, client, configText)
			file, err := writer.ConfiguredFile(client)
			if err != nil || file != "" {
				t.Errorf("%s: configured file = %q, error %v, want none", id, file, err)
			}
			plan, err := writer.PlanUndo(client)
			if err != nil || plan.Action != undoKeepFile || plan.Diff() != "" || plan.KeepsToken != (id == "cursor" && !isRecorded) {
				t.Errorf("%s: plan of undo = %+v, error %v, want to keep the server", id, plan, err)
			}
			undoReport, err := writer.Undo(client)
			if err != nil || !strings.HasPrefix(undoReport, "the server opentabs stays in "+client.File) || readText(t, client.File) != configText {
				t.Errorf("%s: Undo returned %q, error %v, content = %q, want %q", id, undoReport, err, readText(t, client.File), configText)
			}
		}
	}
}

func TestPlanUndo(t *testing.T) {
	for _, c := range []struct {
		textBefore, suffix string
		want               UndoAction
		undoPlanText       string
	}{
		{"{}", "", undoRestoreBackup, "undo restores the earlier content of "},
		{"", "", undoDeleteFile, "undo deletes "},
		{"{}", "\n", undoRemoveEntry, "undo removes opentabs from "},
	} {
		m := newMachine(t)
		client := clientOf(t, m, "cursor")
		if c.textBefore != "" {
			writeConfig(t, client, c.textBefore)
		}
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		configText := readText(t, client.File) + c.suffix
		writeConfig(t, client, configText)
		records := readText(t, writer.recordsFile())
		plan, err := writer.PlanUndo(client)
		if err != nil || plan.Action != c.want || !strings.HasPrefix(plan.Plan(), c.undoPlanText+client.File) || !strings.Contains(plan.Diff(), "\n-") {
			t.Errorf("plan of undo = %q, error %v, diff:\n%s\nwant the action %q", plan.Plan(), err, plan.Diff(), c.want)
		}
		if readText(t, client.File) != configText || readText(t, writer.recordsFile()) != records {
			t.Error("PlanUndo changed the configuration or the records, want both unchanged")
		}
	}
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	if plan, err := writer.PlanUndo(client); err != nil || plan.Action != UndoNothing || plan.Plan() != "" || plan.Diff() != "" || fileExists(writer.Dir) {
		t.Errorf("plan of undo without a file = %+v, error %v, folder of backups exists: %t; want no action and no folder", plan, err, fileExists(writer.Dir))
	}
	writeConfig(t, client, "{}")
	setUpClient(t, writer, client, testCommand)
	if err := os.WriteFile(writer.recordsFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if plan, err := writer.PlanUndo(client); err != nil || plan.Action != undoRemoveEntry || readText(t, writer.recordsFile()) != "{" {
		t.Errorf("plan of undo with a damaged record = %+v, error %v; want undoRemoveEntry and unchanged records", plan, err)
	}
}
