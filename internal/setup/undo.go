package setup

import (
	"bytes"
	"errors"
	"os"
)

// UndoAction is how undo changes the configuration file of an MCP client.
type UndoAction string

const (
	// UndoNothing means that the file does not contain opentabs, so undo does nothing.
	UndoNothing UndoAction = ""
	// undoRestore restores the exact content that the file had before the first setup.
	undoRestore UndoAction = "restore"
	// undoDelete deletes a file that setup has created.
	undoDelete UndoAction = "delete"
	// undoRemove removes only the entry of opentabs and keeps the rest of the file.
	undoRemove UndoAction = "remove"
)

// Removal is a planned removal of opentabs from the configuration of an MCP client.
type Removal struct {
	// File is the path of the file that setup has written. The MCP client may use another
	// file now.
	File   string
	Action UndoAction
	// before is the current content of the configuration file, and after is the planned
	// content.
	before, after []byte
}

// Diff returns the planned removal as a unified diff, or an empty string if nothing
// changes.
func (r Removal) Diff() string {
	if r.Action == UndoNothing {
		return ""
	}
	return diffOf(r.File, r.before, r.after)
}

// Plan returns a sentence for the user about what undo will do, or an empty string if
// undo does nothing.
func (r Removal) Plan() string {
	switch r.Action {
	case undoRestore:
		return "undo restores the earlier content of " + r.File
	case undoDelete:
		return "undo deletes " + r.File + ", because setup created the file"
	case undoRemove:
		return "undo removes opentabs from " + r.File + ", and keeps the rest of the file"
	}
	return ""
}

// doneText returns a sentence for the user about what undo has done, or an empty string
// if undo did nothing.
func (r Removal) doneText() string {
	switch r.Action {
	case undoRestore:
		return r.File + " has its earlier content"
	case undoDelete:
		return r.File + " is removed, because it did not exist before"
	case undoRemove:
		return "opentabs is removed from " + r.File + ", and the rest of the file stays"
	}
	return ""
}

// PlanUndo plans the removal of opentabs from the configuration of an MCP client. If the
// file has not changed since setup wrote it, the backup will be restored. PlanUndo itself
// writes nothing.
func (w Writer) PlanUndo(c Client) (Removal, error) {
	records, err := w.records()
	if err != nil {
		return Removal{}, err
	}
	r, isRecorded := records[c.ID]
	if isRecorded {
		c.File = r.File
	}
	now, err := readConfig(c.File)
	if now == nil || err != nil { // now is nil if the user has deleted the file
		return Removal{File: c.File}, err
	}
	if isRecorded && hashOf(now) == r.Hash {
		if r.Backup == "" {
			return Removal{File: c.File, Action: undoDelete, before: now}, nil
		}
		if earlier, ok := c.backupWithoutServer(r.Backup); ok {
			return Removal{File: c.File, Action: undoRestore, before: now, after: earlier}, nil
		}
	}
	without, err := editText(now, func(text []byte) ([]byte, error) { return c.format.remove(text, c.servers) })
	if err == nil && bytes.Equal(without, now) {
		if values, decodeErr := c.format.decode(now); decodeErr != nil || findServer(values, c.servers) == nil {
			return Removal{File: c.File}, nil
		}
		err = errOtherChange
	}
	if err != nil {
		return Removal{}, newRemoveError(c.File, err)
	}
	return Removal{File: c.File, Action: undoRemove, before: now, after: without}, nil
}

// backupWithoutServer returns the content of a backup that does not contain opentabs. If
// the file changed between two setups, its backup may contain opentabs. ok is false if
// the backup contains opentabs or is missing.
func (c Client) backupWithoutServer(path string) (content []byte, ok bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	values, err := c.format.decode(content)
	return content, err == nil && findServer(values, c.servers) == nil
}

// Undo removes opentabs from the configuration of an MCP client, and returns a sentence
// about the change for the user. The sentence is empty if the configuration does not
// contain opentabs.
func (w Writer) Undo(c Client) (string, error) {
	plan, err := w.PlanUndo(c)
	if err != nil {
		return "", err
	}
	switch plan.Action {
	case undoDelete:
		err = os.Remove(resolveLinks(plan.File))
	case undoRestore, undoRemove:
		err = replaceConfig(plan.File, plan.after)
	}
	if err != nil {
		return "", err
	}
	records, err := w.records()
	if err != nil {
		return "", err
	}
	delete(records, c.ID)
	return plan.doneText(), w.writeRecords(records)
}

// ConfiguredFile returns the path of the MCP client's configuration file from which
// [Writer.Undo] would remove opentabs. The path is empty if the configuration does not
// contain opentabs.
func (w Writer) ConfiguredFile(c Client) (string, error) {
	records, err := w.records()
	if err != nil {
		return "", err
	}
	if r, ok := records[c.ID]; ok {
		c.File = r.File
	}
	data, err := readConfig(c.File)
	if errors.Is(err, errNotRegular) {
		return "", nil
	}
	if data == nil || err != nil {
		return "", err
	}
	values, err := c.format.decode(data)
	if err != nil || findServer(values, c.servers) == nil {
		return "", nil // opentabs cannot edit a file that it cannot parse
	}
	return c.File, nil
}
