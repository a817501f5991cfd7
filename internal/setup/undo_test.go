package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// movedCommand is the command that starts opentabs after the program has been moved.
var movedCommand = Command{Path: "/opt/opentabs", Args: []string{"mcp"}, Env: map[string]string{"OPENTABS_CLIENT_TOKEN": "otc_2"}}

// setUp writes opentabs to the configuration of an MCP client.
func setUp(t *testing.T, w Writer, c Client, command Command) {
	t.Helper()
	change, err := PlanChange(c, command)
	if err == nil {
		_, err = w.Write(change)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUndoAfterChangeBetweenSetups checks undo for a file that was edited between two
// setups. Undo must remove only the opentabs entry instead of restoring the backup of the
// second setup, because this backup contains opentabs.
func TestUndoAfterChangeBetweenSetups(t *testing.T) {
	for id, c := range map[string]struct{ before, edited, after string }{
		"claude-code": {"{\n  \"a\": 1\n}\n", "\"a\": 2", "{\n  \"a\": 2,\n  \"mcpServers\": {\n  }\n}\n"},
		"codex":       {"a = 1\n", "a = 2", "a = 2\n\n"},
		"goose":       {"a: 1\n", "a: 2", "a: 2\nextensions:\n"},
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, c.before)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUp(t, writer, client, testCommand)
		writeConfig(t, client, strings.Replace(readText(t, client.File), strings.TrimSpace(strings.Trim(c.before, "{}\n")), c.edited, 1))
		setUp(t, writer, client, movedCommand)
		if sentence, err := writer.Undo(client); err != nil || sentence != "opentabs is removed from "+client.File+", and the rest of the file stays" {
			t.Errorf("%s: Undo returned %q, %v, want that only opentabs is removed", id, sentence, err)
		}
		if got := readText(t, client.File); got != c.after {
			t.Errorf("%s: configuration after undo = %q, want %q", id, got, c.after)
		}
	}
}

// TestUndoOfNewFileChangedBetweenSetups checks that undo keeps a file that setup has
// created if the user has edited the file between two setups.
func TestUndoOfNewFileChangedBetweenSetups(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "codex")
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	setUp(t, writer, client, testCommand)
	writeConfig(t, client, "a = 2\n\n"+readText(t, client.File))
	setUp(t, writer, client, movedCommand)
	if _, err := writer.Undo(client); err != nil || strings.TrimSpace(readText(t, client.File)) != "a = 2" {
		t.Errorf("Undo returned %v, content = %q, want only the line of the user", err, readText(t, client.File))
	}
}

// TestUndoOfForeignServer checks undo for a configuration that had an opentabs entry
// before the first run of setup. The user or the original OpenTabs wrote the earlier
// opentabs entry.
func TestUndoOfForeignServer(t *testing.T) {
	for id, before := range map[string]string{
		"cursor": "{\"mcpServers\": {\"opentabs\":{\"type\":\"http\",\"url\":\"http://127.0.0.1:9515/mcp\"} // mine\n, \"other\": {}}}",
		"codex":  "[mcp_servers.opentabs] # mine\ncommand = \"/old\"\n",
		"goose":  "extensions:\n  opentabs: # mine\n    cmd: /old\n",
	} {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, before)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUp(t, writer, client, testCommand)
		setUp(t, writer, client, movedCommand)
		if sentence, err := writer.Undo(client); err != nil || !strings.HasSuffix(sentence, "has its earlier content") || readText(t, client.File) != before {
			t.Errorf("%s: Undo returned %q, %v, content = %q, want %q", id, sentence, err, readText(t, client.File), before)
		}

		setUp(t, writer, client, testCommand)
		writeConfig(t, client, readText(t, client.File)+"\n")
		setUp(t, writer, client, movedCommand)
		writeConfig(t, client, readText(t, client.File)+"\n")
		sentence, err := writer.Undo(client)
		_, backup, ok := strings.Cut(sentence, "; the server opentabs from before setup is in ")
		if err != nil || !ok || readText(t, backup) != before || strings.Contains(readText(t, client.File), "/opt/opentabs") {
			t.Errorf("%s: Undo of a changed file returned %q, %v, content = %q", id, sentence, err, readText(t, client.File))
		}
	}
}

// TestUndoKeepsForeignServer checks that undo keeps an opentabs entry that setup did not
// write. Either setup has never run, or another program has replaced the entry that setup
// wrote.
func TestUndoKeepsForeignServer(t *testing.T) {
	for id, foreign := range map[string]string{
		"codex":  "mcp_servers.opentabs.command = \"x\"\n",
		"cursor": `{"mcpServers": {"opentabs": {"command": "x", "env": {"OPENTABS_CLIENT_TOKEN": "otc_1"}}}}`,
		"goose":  "extensions: {opentabs: {cmd: x}}\n",
	} {
		for _, isRecorded := range []bool{false, true} {
			m := newMachine(t)
			client := clientOf(t, m, id)
			writer := Writer{Dir: filepath.Join(m.Home, "state")}
			text := foreign
			if isRecorded {
				setUp(t, writer, client, testCommand)
				text = strings.Replace(foreign, "OPENTABS_CLIENT_TOKEN", "OTHER", 1)
			}
			writeConfig(t, client, text)
			file, err := writer.ConfiguredFile(client)
			if err != nil || file != "" {
				t.Errorf("%s: configured file = %q, %v, want none", id, file, err)
			}
			plan, err := writer.PlanUndo(client)
			if err != nil || plan.Action != undoKeep || plan.Diff() != "" || plan.KeepsToken != (id == "cursor" && !isRecorded) {
				t.Errorf("%s: plan of undo = %+v, %v, want to keep the server", id, plan, err)
			}
			sentence, err := writer.Undo(client)
			if err != nil || !strings.HasPrefix(sentence, "the server opentabs stays in "+client.File) || readText(t, client.File) != text {
				t.Errorf("%s: Undo returned %q, %v, content = %q, want %q", id, sentence, err, readText(t, client.File), text)
			}
		}
	}
}

// TestPlanUndo checks the plan for each action of undo, and that planning writes nothing.
func TestPlanUndo(t *testing.T) {
	for _, c := range []struct {
		// before is the content before setup, or empty for a missing file. suffix is the
		// text that the user adds after setup.
		before, suffix string
		want           UndoAction
		plan           string
	}{
		{"{}", "", undoRestore, "undo restores the earlier content of "},
		{"", "", undoDelete, "undo deletes "},
		{"{}", "\n", undoRemove, "undo removes opentabs from "},
	} {
		m := newMachine(t)
		client := clientOf(t, m, "cursor")
		if c.before != "" {
			writeConfig(t, client, c.before)
		}
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUp(t, writer, client, testCommand)
		text := readText(t, client.File) + c.suffix
		writeConfig(t, client, text)
		records := readText(t, writer.recordsFile())
		plan, err := writer.PlanUndo(client)
		if err != nil || plan.Action != c.want || !strings.HasPrefix(plan.Plan(), c.plan+client.File) || !strings.Contains(plan.Diff(), "\n-") {
			t.Errorf("plan of undo = %q, %v, diff:\n%s\nwant the action %q", plan.Plan(), err, plan.Diff(), c.want)
		}
		if readText(t, client.File) != text || readText(t, writer.recordsFile()) != records {
			t.Error("PlanUndo has changed a file")
		}
	}
	// PlanUndo must write no file, even if setup has never run or the record of setup is
	// damaged.
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	if plan, err := writer.PlanUndo(client); err != nil || plan.Action != UndoNothing || plan.Plan() != "" || plan.Diff() != "" || fileExists(writer.Dir) {
		t.Errorf("plan of undo without a file = %+v, %v, and the folder of backups exists: %t", plan, err, fileExists(writer.Dir))
	}
	writeConfig(t, client, "{}")
	setUp(t, writer, client, testCommand)
	if err := os.WriteFile(writer.recordsFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if plan, err := writer.PlanUndo(client); err != nil || plan.Action != undoRemove || readText(t, writer.recordsFile()) != "{" {
		t.Errorf("plan of undo with a damaged record = %+v, %v", plan, err)
	}
}
