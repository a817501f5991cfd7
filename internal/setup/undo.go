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
	UndoNothing       UndoAction = ""
	undoRestoreBackup UndoAction = "restore"
	undoDeleteFile    UndoAction = "delete"
	// undoRemoveEntry removes only the entry of opentabs and keeps the rest of the file.
	undoRemoveEntry UndoAction = "remove"
	// undoKeepFile changes nothing, because setup did not write the opentabs entry in the
	// file.
	undoKeepFile UndoAction = "keep"
)

// Removal is a planned removal of opentabs from the configuration of an MCP client.
type Removal struct {
	// File is the path of the configuration file that setup wrote, even if the MCP client
	// now uses another file.
	File   string
	Action UndoAction
	// KeepsToken is true if the file keeps an opentabs entry with a client token.
	KeepsToken bool
	// earlierBackup is the path of a backup with the opentabs entry from before setup, or
	// empty. earlierBackup is always empty if Action is not undoRemoveEntry.
	earlierBackup               string
	contentBefore, contentAfter []byte
}

// Diff returns the planned removal as a unified diff, or an empty string if nothing
// changes.
func (r Removal) Diff() string {
	if r.Action == UndoNothing || r.Action == undoKeepFile {
		return ""
	}
	return diffOf(r.File, r.contentBefore, r.contentAfter)
}

// Plan returns a sentence for the user about what undo will do, or an empty string if
// undo does nothing.
func (r Removal) Plan() string {
	switch r.Action {
	case undoRestoreBackup:
		return "undo restores the earlier content of " + r.File
	case undoDeleteFile:
		return "undo deletes " + r.File + ", because setup created the file"
	case undoRemoveEntry:
		return "undo removes opentabs from " + r.File + ", and keeps the rest of the file" + r.earlierText()
	case undoKeepFile:
		return "undo keeps the server opentabs in " + r.File + ", because setup did not write this server"
	}
	return ""
}

func (r Removal) resultText() string {
	switch r.Action {
	case undoRestoreBackup:
		return r.File + " has its earlier content"
	case undoDeleteFile:
		return r.File + " is removed, because it did not exist before"
	case undoRemoveEntry:
		return "opentabs is removed from " + r.File + ", and the rest of the file stays" + r.earlierText()
	case undoKeepFile:
		return "the server opentabs stays in " + r.File + ", because setup did not write this server; remove it by hand if you do not need it"
	}
	return ""
}

func (r Removal) earlierText() string {
	if r.earlierBackup == "" {
		return ""
	}
	return "; the server opentabs from before setup is in " + r.earlierBackup
}

// PlanUndo plans the removal of opentabs from the configuration of an MCP client. If the
// configuration file has not changed since setup wrote it, PlanUndo plans to restore the
// backup. PlanUndo writes no file.
func (w Writer) PlanUndo(c Client) (Removal, error) {
	records, err := w.records()
	if err != nil {
		return Removal{}, err
	}
	r, isRecorded := records[c.ID]
	if isRecorded {
		c.File = r.File
	}
	contentNow, err := readConfig(c.File)
	if contentNow == nil || err != nil { // contentNow is nil if the user has deleted the file
		return Removal{File: c.File}, err
	}
	if isRecorded && hashOf(contentNow) == r.Hash {
		if r.Backup == "" {
			return Removal{File: c.File, Action: undoDeleteFile, contentBefore: contentNow}, nil
		}
		if contentBefore, ok := c.readBackupBeforeSetup(r.Backup); ok {
			return Removal{File: c.File, Action: undoRestoreBackup, contentBefore: contentNow, contentAfter: contentBefore}, nil
		}
	}
	if configValues, err := c.format.decode(contentNow); err == nil {
		switch server := findServer(configValues, c.serversPath); {
		case server == nil:
			return Removal{File: c.File}, nil
		case !w.hasWritten(server, isRecorded):
			return Removal{File: c.File, Action: undoKeepFile, KeepsToken: hasClientToken(server)}, nil
		}
	}
	remainingContent, err := editNormalizedText(contentNow, func(configText []byte) ([]byte, error) { return c.format.removeServer(configText, c.serversPath) })
	if err == nil && bytes.Equal(remainingContent, contentNow) {
		err = errUnsupportedLayout
	}
	if err != nil {
		return Removal{}, newRemoveError(c.File, err)
	}
	return Removal{File: c.File, Action: undoRemoveEntry, contentBefore: contentNow, contentAfter: remainingContent, earlierBackup: r.EarlierBackup}, nil
}

// TokenVariable is the environment variable with the token of the MCP client that runs
// `opentabs mcp`. Each configuration entry that setup writes sets TokenVariable.
const TokenVariable = "OPENTABS_CLIENT_TOKEN"

func hasClientToken(server any) bool {
	fields, _ := server.(map[string]any)
	return readCommand(fields).Env[TokenVariable] != ""
}

// If the file of records is damaged, hasWritten checks only the form of the entry.
func (w Writer) hasWritten(server any, isRecorded bool) bool {
	return hasClientToken(server) && (isRecorded || w.hasDamagedRecords())
}

// A backup contains an opentabs entry that setup wrote if the file changed between two runs of setup.
func (c Client) readBackupBeforeSetup(path string) (content []byte, ok bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	configValues, err := c.format.decode(content)
	return content, err == nil && !hasClientToken(findServer(configValues, c.serversPath))
}

// Undo removes opentabs from the configuration of an MCP client, and returns a sentence
// about the change for the user. Undo returns an empty string if the configuration does
// not contain opentabs. Undo keeps an opentabs entry that setup did not write.
func (w Writer) Undo(c Client) (string, error) {
	plan, err := w.PlanUndo(c)
	if err != nil {
		return "", err
	}
	switch plan.Action {
	case undoDeleteFile:
		err = explainAccess(plan.File, os.Remove(resolveLinks(plan.File)))
	case undoRestoreBackup, undoRemoveEntry:
		err = replaceConfig(plan.File, plan.contentAfter)
	}
	if err != nil {
		return "", err
	}
	records, err := w.records()
	if err != nil {
		return "", err
	}
	if _, isRecorded := records[c.ID]; !isRecorded { // other clients may still need damaged records
		return plan.resultText(), nil
	}
	delete(records, c.ID)
	return plan.resultText(), w.writeRecords(records)
}

// ConfiguredFile returns the path of the MCP client's configuration file from which
// [Writer.Undo] would remove opentabs. ConfiguredFile returns "" if the configuration has
// no opentabs entry, or has an opentabs entry that setup did not write.
func (w Writer) ConfiguredFile(c Client) (string, error) {
	records, err := w.records()
	if err != nil {
		return "", err
	}
	r, isRecorded := records[c.ID]
	if isRecorded {
		c.File = r.File
	}
	configBytes, err := readConfig(c.File)
	if errors.Is(err, errNotRegularFile) {
		return "", nil
	}
	if configBytes == nil || err != nil {
		return "", err
	}
	configValues, err := c.format.decode(configBytes)
	if err != nil || !w.hasWritten(findServer(configValues, c.serversPath), isRecorded) {
		return "", nil // opentabs cannot edit a file that it cannot parse
	}
	return c.File, nil
}
