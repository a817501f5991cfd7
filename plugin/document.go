package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"opentabs/internal/jsonread"
	"opentabs/internal/nearest"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
)

// storeVersion is the version of the file format of plugins.json.
const storeVersion = 1

// A document is the parsed content of plugins.json. A document keeps members of
// plugins.json that the running version of opentabs does not support.
type document struct {
	members statedoc.Object
	plugins []rawEntry
}

// rawEntry is one installed plugin in plugins.json, as JSON with all its members. The JSON
// of a rawEntry is not validated, so members may be missing or malformed.
type rawEntry json.RawMessage

func newDocument() *document { return &document{members: statedoc.Object{}} }

// If the text of plugins.json cannot be decoded, parseDocument returns a *[statedoc.DamagedError]. If a newer version
// of opentabs wrote plugins.json, parseDocument returns an error that is not a DamagedError.
func parseDocument(documentJSON []byte) (*document, error) {
	const remedy = "; repair it, or add a plugin to start a new list (this file is kept under another name)"
	members, err := statedoc.ParseTopLevel(documentJSON, storeVersion)
	if err != nil {
		if damagedError := (*statedoc.DamagedError)(nil); errors.As(err, &damagedError) {
			damagedError.Problem += remedy
		}
		return nil, err
	}
	storeDocument := &document{members: members}
	if rawJSON, ok := members["plugins"]; ok {
		var storeEntries []json.RawMessage
		if err := json.Unmarshal(rawJSON, &storeEntries); err != nil {
			return nil, &statedoc.DamagedError{Problem: "has plugins that are " + rawjson.KindOf(rawJSON) + " instead of an array" + remedy}
		}
		for _, rawJSON := range storeEntries {
			storeDocument.plugins = append(storeDocument.plugins, rawEntry(rawJSON))
		}
	}
	return storeDocument, nil
}

func (d *document) encode() []byte {
	entries := make([]json.RawMessage, 0, len(d.plugins))
	for _, e := range d.plugins {
		entries = append(entries, json.RawMessage(e))
	}
	d.members["version"] = rawjson.Encode(storeVersion)
	d.members["plugins"] = rawjson.Encode(entries)
	return rawjson.Indent(rawjson.Encode(d.members))
}

func (d *document) putEntry(e Entry) error {
	entryIndex := -1
	for i, raw := range d.plugins {
		otherEntry, err := decodeEntry(raw)
		isSamePackage := otherEntry.Source == SourceNPM && e.Source == SourceNPM && otherEntry.Package == e.Package
		if err == nil && (isSamePackage || isSameFolder(otherEntry.Path, e.Path)) {
			entryIndex = i
		} else if err == nil && otherEntry.Name == e.Name {
			return newNameClashError(otherEntry, e)
		}
	}
	if entryIndex < 0 {
		d.plugins = append(d.plugins, encodeEntry(nil, e))
	} else {
		d.plugins[entryIndex] = encodeEntry(d.plugins[entryIndex], e)
	}
	return nil
}

// isSameFolder follows symbolic links.
func isSameFolder(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func newNameClashError(firstEntry, secondEntry Entry) error {
	plugins := firstEntry.Path
	if firstEntry.Package != "" {
		plugins = firstEntry.Package + " in " + firstEntry.Path
	}
	remedy := fmt.Sprintf("run opentabs plugin remove %s first, or rename one of the packages", firstEntry.Name)
	switch {
	case secondEntry.Source == SourceGlobal && firstEntry.Source == SourceGlobal:
		remedy = fmt.Sprintf("run npm uninstall --global %s, or do so with the other", secondEntry.Package)
	case secondEntry.Source == SourceGlobal:
		remedy = fmt.Sprintf("run npm uninstall --global %s, or opentabs plugin remove %s", secondEntry.Package, firstEntry.Name)
	}
	return fmt.Errorf("the plugin name %q is taken by %s; %s", firstEntry.Name, plugins, remedy)
}

// ErrUnknown is wrapped by errors about plugins, tools and settings that do not exist.
var ErrUnknown = errors.New("there is no plugin")

func newUnknownNameError(name string, names []string) error {
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	if len(names) == 0 {
		return fmt.Errorf("%w %q: there are no plugins; run opentabs plugin install NAME to install one", ErrUnknown, name)
	}
	slices.Sort(names)
	return fmt.Errorf("%w %q%s; name one of %s", ErrUnknown, name, nearest.Suggestion(name, names), strings.Join(names, ", "))
}

// If decodeEntry returns an error, the returned Entry contains the members that could be parsed.
func decodeEntry(raw rawEntry) (Entry, error) {
	var e Entry
	var entryProblems jsonread.Problems
	if rawjson.KindOf(raw) != rawjson.KindObject {
		return e, errors.New("is " + rawjson.KindOf(raw) + "; make it an object")
	}
	entryJSON, problemText := rawjson.Compact(raw, nil)
	if problemText != "" {
		return e, errors.New(problemText)
	}
	f := jsonread.New(entryJSON, "", &entryProblems)
	e.Name = f.Text("name", "remove the entry and add the plugin again")
	e.Path = f.Text("path", "remove the entry and add the plugin again")
	e.Hash = f.Text("hash", "remove the entry and add the plugin again")
	e.Manifest = f.OptionalText("manifest")
	e.Package, e.RequestedVersion = f.OptionalText("package"), f.OptionalText("want")
	switch e.Source = Source(f.OptionalText("source")); e.Source {
	case "":
		e.Source = SourceFolder // older versions of plugins.json do not record the source
	case SourceFolder, SourceNPM:
	default:
		f.Add("source", "is %q; remove the entry and add the plugin again", e.Source)
	}
	if addedAt := f.OptionalText("added"); addedAt != "" {
		var err error
		if e.AddedAt, err = time.Parse(time.RFC3339, addedAt); err != nil {
			f.Add("added", "is not a time; write it as in 2026-01-31T12:00:00Z")
		}
	}
	if len(entryProblems.List) > 0 {
		return e, errors.New(entryProblems.List[0].Text)
	}
	return e, nil
}

func encodeEntry(oldEntry rawEntry, e Entry) rawEntry {
	members := map[string]json.RawMessage{}
	if oldEntry != nil && json.Unmarshal(oldEntry, &members) != nil {
		members = map[string]json.RawMessage{}
	}
	members["path"] = rawjson.Encode(e.Path)
	members["name"] = rawjson.Encode(e.Name)
	members["hash"] = rawjson.Encode(e.Hash)
	members["manifest"] = rawjson.Encode(e.Manifest)
	members["source"] = rawjson.Encode(e.Source)
	for key, value := range map[string]string{"package": e.Package, "want": e.RequestedVersion} {
		delete(members, key)
		if value != "" {
			members[key] = rawjson.Encode(value)
		}
	}
	members["added"] = rawjson.Encode(e.AddedAt.Format(time.RFC3339))
	return rawEntry(rawjson.Encode(members))
}
