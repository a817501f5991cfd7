package setup

import (
	"bytes"
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
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"opentabs/internal/statefile"
)

// Change is a new content of a client's configuration.
type Change struct {
	Client Client
	// before is the content now; nil if the file does not exist.
	before, after []byte
}

// NewChange returns the configuration of a client with command as the server opentabs. The
// error names the problem of the file.
func NewChange(c Client, command Command) (Change, error) {
	before, err := readConfig(c.File)
	if err != nil {
		return Change{}, err
	}
	after, err := editText(before, func(text []byte) ([]byte, error) { return c.format.set(text, c.servers, c.entry(command)) })
	if err != nil {
		return Change{}, fmt.Errorf("%s: %w", c.File, err)
	}
	return Change{Client: c, before: before, after: after}, nil
}

// IsEmpty reports whether the configuration has the server already.
func (c Change) IsEmpty() bool {
	before, errBefore := c.Client.format.decode(c.before)
	after, errAfter := c.Client.format.decode(c.after)
	return c.before != nil && errBefore == nil && errAfter == nil && reflect.DeepEqual(before, after)
}

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	text := diff.Diff(c.Client.File, c.before, c.Client.File, c.after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the line "diff FILE FILE"
	return string(text)
}

// CurrentToken returns the token of the client in its configuration; empty if there is
// none. prefix is the beginning of each token.
func CurrentToken(c Client, prefix string) string {
	data, err := readConfig(c.File)
	if err != nil {
		return ""
	}
	values, err := c.format.decode(data)
	if err != nil {
		return ""
	}
	return findText(serverIn(values, c.servers), prefix)
}

// findText returns a text with a prefix in a value.
func findText(value any, prefix string) string {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, prefix) {
			return value
		}
	case map[string]any:
		for _, child := range value {
			if text := findText(child, prefix); text != "" {
				return text
			}
		}
	}
	return ""
}

// readConfig returns the content of a configuration; nil for a missing file.
func readConfig(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// Writer writes configurations, and keeps their earlier contents in a folder.
type Writer struct {
	// Dir is the folder of the backups and of the record of changes.
	Dir string
}

// record is one written configuration.
type record struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Backup is the file with the content before the change; empty if there was no file.
	Backup string `json:"backup,omitempty"`
	// Hash is the SHA-256 hash of the written content, in hexadecimal digits.
	Hash    string    `json:"sha256"`
	Written time.Time `json:"written"`
}

// Write writes a configuration after a backup, and returns the path of the backup; empty
// if the file is new. The file keeps its mode. A link keeps pointing to its file. Write
// fails if the file has changed since [NewChange], or is read-only.
func (w Writer) Write(c Change) (backup string, err error) {
	now, err := readConfig(c.Client.File)
	switch {
	case err != nil:
		return "", err
	case !bytes.Equal(now, c.before) || (now == nil) != (c.before == nil):
		return "", fmt.Errorf("%s has changed in the meantime: run the command again", c.Client.File)
	}
	records, err := w.records() // before the change, which needs the record for undo
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return "", err
	}
	written := time.Now().UTC()
	if c.before != nil {
		backup = filepath.Join(w.Dir, fmt.Sprintf("%s-%s%s", c.Client.ID, written.Format("20060102-150405.000000"), filepath.Ext(c.Client.File)))
		if err := statefile.Create(backup, c.before); err != nil {
			return "", err
		}
	}
	if err := replaceConfig(c.Client.File, c.after); err != nil {
		return "", err
	}
	previous, hasPrevious := records[c.Client.ID]
	if hasPrevious && previous.File == c.Client.File && previous.Hash == hashOf(c.before) {
		backup = previous.Backup // undo goes back to the content before the first change
	}
	records[c.Client.ID] = record{Client: c.Client.ID, File: c.Client.File, Backup: backup, Hash: hashOf(c.after), Written: written}
	return backup, w.writeRecords(records)
}

// Undo takes opentabs out of the configuration of a client, and returns a sentence about
// what was done; empty if the configuration does not name opentabs. If the file has not
// changed since, it gets its earlier content byte by byte.
func (w Writer) Undo(c Client) (string, error) {
	records, err := w.records()
	if err != nil {
		return "", err
	}
	r, ok := records[c.ID]
	if !ok {
		r.File = c.File
	}
	c.File = r.File
	now, err := readConfig(c.File)
	if err != nil {
		return "", err
	}
	var sentence string
	isOwn := ok && hashOf(now) == r.Hash && (r.Backup == "" || exists(r.Backup))
	switch {
	case now == nil: // the user has removed the file
	case isOwn && r.Backup == "":
		sentence = fmt.Sprintf("%s is removed, because it did not exist before", c.File)
		err = os.Remove(resolveLinks(c.File))
	case isOwn:
		sentence = fmt.Sprintf("%s has its earlier content", c.File)
		err = restore(c.File, r.Backup)
	default:
		sentence, err = c.removeFrom(now)
	}
	if err != nil {
		return "", err
	}
	delete(records, c.ID)
	return sentence, w.writeRecords(records)
}

// restore gives a file the content of its backup.
func restore(path, backup string) error {
	earlier, err := os.ReadFile(backup)
	if err != nil {
		return err
	}
	return replaceConfig(path, earlier)
}

// removeFrom removes opentabs from the configuration with the content now, and returns a
// sentence about what was done; empty for nothing.
func (c Client) removeFrom(now []byte) (string, error) {
	without, err := editText(now, func(text []byte) ([]byte, error) { return c.format.remove(text, c.servers) })
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.File, err)
	}
	if bytes.Equal(without, now) {
		return "", nil
	}
	return fmt.Sprintf("opentabs is removed from %s, which has changed since", c.File), replaceConfig(c.File, without)
}

// maxLinks limits the links that lead to one file.
const maxLinks = 40

// resolveLinks returns the file to which a path leads, also if the file does not exist.
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

// replaceConfig writes a configuration in one step.
func replaceConfig(path string, data []byte) error {
	target := resolveLinks(path)
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(target); err == nil {
		if mode = info.Mode().Perm(); mode&0o200 == 0 {
			return fmt.Errorf("%s is read-only: make it writable, or add the server by hand as `opentabs setup --print` shows", path)
		}
	} else if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	if err := statefile.Write(target, data); err != nil {
		return err
	}
	return os.Chmod(target, mode)
}

func (w Writer) recordsFile() string { return filepath.Join(w.Dir, "setup.json") }

func (w Writer) records() (map[string]record, error) {
	records := map[string]record{}
	data, err := os.ReadFile(w.recordsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return records, nil
	}
	if err == nil && (json.Unmarshal(data, &records) != nil || records == nil) { // without records, undo removes only opentabs
		records = map[string]record{}
		_, err = statefile.PutAside(w.recordsFile())
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of setup in %s: %w", w.recordsFile(), err)
	}
	return records, nil
}

func (w Writer) writeRecords(records map[string]record) error {
	data, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return err
	}
	return statefile.Write(w.recordsFile(), append(data, '\n'))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ConfiguredFile returns the configuration of a client from which [Writer.Undo] would take
// opentabs; empty if the configuration does not name opentabs.
func (w Writer) ConfiguredFile(c Client) (string, error) {
	records, err := w.records()
	if err != nil {
		return "", err
	}
	if r, ok := records[c.ID]; ok {
		c.File = r.File
	}
	data, err := readConfig(c.File)
	if data == nil || err != nil {
		return "", err
	}
	values, err := c.format.decode(data)
	if err != nil || serverIn(values, c.servers) == nil {
		return "", nil // a file that opentabs cannot read has no server that opentabs can remove
	}
	return c.File, nil
}
