package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"opentabs/internal/lazyregexp"
)

// tomlFormat edits configuration files in TOML, in which each MCP server is a table.
type tomlFormat struct{}

func (f tomlFormat) setServer(configBytes []byte, serversPath []string, entry any) ([]byte, error) {
	if _, err := f.decode(configBytes); err != nil {
		return nil, err
	}
	table := entry
	if existingFields := findCommandServer(f, configBytes, serversPath); existingFields != nil {
		entryTOML, err := toml.Marshal(entry)
		var fields map[string]any
		if err == nil {
			err = toml.Unmarshal(entryTOML, &fields)
		}
		if err != nil {
			return nil, err
		}
		mergedFields := mergeFields(existingFields, fields)
		if reflect.DeepEqual(mergedFields, existingFields) {
			return configBytes, nil
		}
		if contentAfter, ok := editTOMLServer(f, configBytes, serversPath, existingFields, mergedFields); ok {
			return checkServerAdded(f, configBytes, contentAfter, serversPath)
		}
		table = mergedFields
	}
	for _, name := range append([]string{serverName}, reverseNames(serversPath)...) {
		table = map[string]any{name: table}
	}
	block, err := toml.Marshal(table)
	if err != nil {
		return nil, err
	}
	// toml.Marshal also writes the headers of the parent tables, but the file can already
	// contain these headers.
	for _, name := range parentTables(serversPath) {
		block = bytes.TrimPrefix(block, []byte("["+name+"]\n"))
	}
	remainingContent := removeTable(configBytes, serversPath)
	if len(remainingContent) > 0 {
		remainingContent = append(bytes.TrimRight(remainingContent, "\r\n\t "), "\n\n"...)
	}
	return checkServerAdded(f, configBytes, append(remainingContent, block...), serversPath)
}

func (tomlFormat) inlineEntry(entry any) ([]byte, error) {
	var line bytes.Buffer
	err := toml.NewEncoder(&line).SetTablesInline(true).Encode(map[string]any{serverName: entry})
	return line.Bytes(), err
}

func (f tomlFormat) removeServer(configBytes []byte, serversPath []string) ([]byte, error) {
	return checkOnlyServerChanged(f, configBytes, removeTOMLFields(removeTable(configBytes, serversPath), serversPath), serversPath)
}

func (tomlFormat) decode(configBytes []byte) (map[string]any, error) {
	var configValues map[string]any
	if err := toml.Unmarshal(bytes.TrimPrefix(configBytes, byteOrderMark), &configValues); err != nil {
		var position *toml.DecodeError
		if errors.As(err, &position) {
			rowIndex, column := position.Position()
			err = fmt.Errorf("line %d, column %d: %w", rowIndex, column, err)
		}
		return nil, newSyntaxError("TOML", err)
	}
	return configValues, nil
}

var tableHeader = lazyregexp.New(`^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$`)

// removeTable keeps comments and blank lines before the next table.
func removeTable(configBytes []byte, serversPath []string) []byte {
	serverTablePath := strings.Join(append(serversPath[:len(serversPath):len(serversPath)], serverName), ".")
	var remainingContent, pendingLines []byte
	isOwn := false
	for line := range bytes.Lines(configBytes) {
		if header := tableHeader().FindSubmatch(bytes.TrimRight(line, "\r\n")); header != nil {
			name := strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "").Replace(string(header[1]))
			isOwn = name == serverTablePath || strings.HasPrefix(name, serverTablePath+".")
			if !isOwn {
				remainingContent = append(remainingContent, pendingLines...)
			}
			pendingLines = nil
		}
		trimmedLine := bytes.TrimSpace(line)
		switch {
		case !isOwn:
			remainingContent = append(remainingContent, line...)
		case len(trimmedLine) == 0 || trimmedLine[0] == '#':
			pendingLines = append(pendingLines, line...)
		default:
			pendingLines = nil
		}
	}
	return remainingContent
}

func reverseNames(names []string) []string {
	var reversedNames []string
	for i := len(names) - 1; i >= 0; i-- {
		reversedNames = append(reversedNames, names[i])
	}
	return reversedNames
}

func parentTables(path []string) []string {
	var names []string
	for i := range path {
		names = append(names, strings.Join(path[:i+1], "."))
	}
	return names
}
