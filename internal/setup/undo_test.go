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
// setups. Undo must remove only the opentabs entry, because the second backup contains
// opentabs.
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

// TestUndoOfOwnServer checks that undo also removes an opentabs entry that the user had
// added by hand before the first setup.
func TestUndoOfOwnServer(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "cursor")
	writeConfig(t, client, `{"mcpServers": {"opentabs": {"command": "/old", "args": ["mcp"]}, "other": {}}}`)
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	setUp(t, writer, client, testCommand)
	if _, err := writer.Undo(client); err != nil || readText(t, client.File) != `{"mcpServers": { "other": {}}}` {
		t.Errorf("Undo returned %v, content = %q, want no opentabs", err, readText(t, client.File))
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
	// PlanUndo also writes nothing if setup has never run or the record is damaged.
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
