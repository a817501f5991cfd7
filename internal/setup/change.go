package setup

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"opentabs/internal/statefile"
)

// Change is a planned change of an MCP client's configuration file.
type Change struct {
	Client                      Client
	contentBefore, contentAfter []byte
}

// PlanChange plans a change that adds opentabs, started by command, to the configuration
// of an MCP client. If opentabs cannot change the file, PlanChange returns a [FileError].
func PlanChange(c Client, command Command) (Change, error) {
	contentBefore, err := readConfig(c.File)
	if err != nil {
		return Change{}, err
	}
	contentAfter, err := editNormalizedText(contentBefore, func(configText []byte) ([]byte, error) {
		return c.format.setServer(configText, c.serversPath, c.entry(command))
	})
	if err != nil {
		return Change{}, newSetError(c, contentBefore, command, err)
	}
	return Change{Client: c, contentBefore: contentBefore, contentAfter: contentAfter}, nil
}

// IsEmpty reports whether the planned change has no effect, because the configuration
// already starts opentabs with this command.
func (c Change) IsEmpty() bool {
	configBefore, beforeErr := c.Client.format.decode(c.contentBefore)
	configAfter, afterErr := c.Client.format.decode(c.contentAfter)
	return c.contentBefore != nil && beforeErr == nil && afterErr == nil && reflect.DeepEqual(configBefore, configAfter)
}

// Diff returns the planned change as a unified diff.
func (c Change) Diff() string { return diffOf(c.Client.File, c.contentBefore, c.contentAfter) }

func diffOf(file string, contentBefore, contentAfter []byte) string {
	diffText := diff.Diff(file, contentBefore, file, contentAfter)
	_, diffText, _ = bytes.Cut(diffText, []byte("\n")) // removes the line "diff FILE FILE"
	return string(diffText)
}

// FindClientToken returns the client token in an MCP client's configuration file, or an empty string. The argument prefix
// is the prefix by which tokens are recognized.
func FindClientToken(c Client, prefix string) string {
	configBytes, err := readConfig(c.File)
	if err != nil {
		return ""
	}
	configValues, err := c.format.decode(configBytes)
	if err != nil {
		return ""
	}
	return findStringWithPrefix(findServer(configValues, c.serversPath), prefix)
}

func findStringWithPrefix(value any, prefix string) string {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, prefix) {
			return value
		}
	case map[string]any:
		for _, child := range value {
			if foundString := findStringWithPrefix(child, prefix); foundString != "" {
				return foundString
			}
		}
	}
	return ""
}

var errNotRegularFile = errors.New("is not a regular file")

// The path of a configuration file can be a symbolic link to a regular file.
func readConfig(path string) ([]byte, error) {
	fileInfo, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, explainAccess(path, err)
	case !fileInfo.Mode().IsRegular(): // reading a named pipe would block
		return nil, fmt.Errorf("%s %w: remove it or put a regular file in its place", path, errNotRegularFile)
	}
	configBytes, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && configBytes == nil {
		configBytes = []byte{}
	}
	return configBytes, explainAccess(path, err)
}

// The error of explainAccess does not wrap err: setting OPENTABS_HOME, the usual remedy, does not move the file of an
// MCP client.
func explainAccess(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%v: make sure that you can write to %s, then run the command again", err, filepath.Dir(path))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%v: move the file that is in place of a directory, then run the command again", err)
	}
	return err
}

// Writer writes the configuration files of MCP clients, and keeps a backup of each file.
type Writer struct {
	// Dir is the folder in which Writer stores backups and a record of the files it has
	// written.
	Dir string
}

const lockTimeout = 15 * time.Second

// Lock prevents two setups from changing configurations, client tokens and records at the
// same time. Lock waits up to 15 s for another setup. If a process dies, the operating
// system releases its lock.
func (w Writer) Lock() (unlock func(), err error) {
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return nil, err
	}
	unlock, err = statefile.Lock(filepath.Join(w.Dir, "lock"), lockTimeout)
	if errors.Is(err, statefile.ErrLocked) {
		return nil, errors.New("another setup is running: wait until it ends, then run the command again")
	}
	return unlock, err
}

// setupRecord describes a configuration file that setup has written.
type setupRecord struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Backup is the path of a copy of the file, made before setup changed the file for the
	// first time. The field Backup is empty if the file did not exist. If the user or the
	// MCP client edited the file between two runs of setup, Backup is the copy from before
	// the second run.
	Backup string `json:"backup,omitempty"`
	// EarlierBackup is the path of the latest backup with an opentabs entry that setup did not write.
	// The field EarlierBackup is empty if no backup contains an opentabs entry from before setup.
	EarlierBackup string `json:"earlier,omitempty"`
	// The field Hash is the SHA-256 of the content that setup has written, in hex.
	Hash      string    `json:"sha256"`
	WrittenAt time.Time `json:"written"`
}

// Write backs up and then writes a configuration file, and returns the path of the backup. If the configuration file
// did not exist, Write makes no backup and returns an empty path. Write keeps the file mode and follows symbolic links.
// Write returns an error if the file has changed since [PlanChange] or is read-only.
func (w Writer) Write(c Change) (backup string, err error) {
	contentNow, err := readConfig(c.Client.File)
	switch {
	case err != nil:
		return "", err
	case !bytes.Equal(contentNow, c.contentBefore) || (contentNow == nil) != (c.contentBefore == nil):
		return "", fmt.Errorf("%s has changed while the command ran: run the command again", c.Client.File)
	}
	records, err := w.records() // an unreadable record prevents the change, because undo needs the record
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return "", err
	}
	writtenTime := time.Now().UTC()
	if c.contentBefore != nil {
		backup = filepath.Join(w.Dir, fmt.Sprintf("%s-%s%s", c.Client.ID, writtenTime.Format("20060102-150405.000000"), filepath.Ext(c.Client.File)))
		if err := statefile.Create(backup, c.contentBefore); err != nil {
			return "", err
		}
	}
	if err := replaceConfig(c.Client.File, c.contentAfter); err != nil {
		return "", err
	}
	earlierBackup := ""
	if configValues, err := c.Client.format.decode(c.contentBefore); err == nil {
		if server := findServer(configValues, c.Client.serversPath); server != nil && !hasClientToken(server) {
			earlierBackup = backup
		}
	}
	if previousRecord := records[c.Client.ID]; previousRecord.File == c.Client.File {
		earlierBackup = cmp.Or(earlierBackup, previousRecord.EarlierBackup)
		if previousRecord.Hash == hashOf(c.contentBefore) {
			backup = previousRecord.Backup // undo restores the content before the first change
		}
	}
	records[c.Client.ID] = setupRecord{Client: c.Client.ID, File: c.Client.File, Backup: backup, EarlierBackup: earlierBackup, Hash: hashOf(c.contentAfter), WrittenAt: writtenTime}
	return backup, w.writeRecords(records)
}

const maxLinks = 40

func resolveLinks(path string) string {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// The new configuration file keeps the mode of the old file.
func replaceConfig(path string, configBytes []byte) error {
	target := resolveLinks(path)
	fileInfo, err := os.Stat(target)
	if err != nil {
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return explainAccess(target, err)
		}
		return explainAccess(target, statefile.Write(target, configBytes))
	}
	if fileInfo.Mode()&0o200 == 0 {
		return fmt.Errorf("%s is read-only: make the file writable, or add the server by hand as `opentabs setup --print` shows", path)
	}
	return explainAccess(target, statefile.Replace(target, configBytes, func(f *os.File) error {
		return f.Chmod(copyOwner(f, fileInfo))
	}))
}

func (w Writer) recordsFile() string { return filepath.Join(w.Dir, "setup.json") }

func (w Writer) records() (map[string]setupRecord, error) {
	records := map[string]setupRecord{}
	configBytes, err := os.ReadFile(w.recordsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return records, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of changed configurations in %s: %w", w.recordsFile(), err)
	}
	if json.Unmarshal(configBytes, &records) != nil || records == nil { // without records, undo can only remove opentabs from the files
		return map[string]setupRecord{}, nil
	}
	return records, nil
}

func (w Writer) hasDamagedRecords() bool {
	var records map[string]setupRecord
	configBytes, err := os.ReadFile(w.recordsFile())
	return err == nil && (json.Unmarshal(configBytes, &records) != nil || records == nil)
}

func (w Writer) renameDamagedRecords() error {
	if !w.hasDamagedRecords() {
		return nil
	}
	_, err := statefile.RenameDamagedFile(w.recordsFile())
	return err
}

func (w Writer) writeRecords(records map[string]setupRecord) error {
	configBytes, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return err
	}
	if err := w.renameDamagedRecords(); err != nil {
		return err
	}
	return statefile.Write(w.recordsFile(), append(configBytes, '\n'))
}

func hashOf(configBytes []byte) string {
	checksum := sha256.Sum256(configBytes)
	return hex.EncodeToString(checksum[:])
}
