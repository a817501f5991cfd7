package setup

import (
	"bytes"
	"errors"
	"reflect"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// yamlFormat supports only YAML block style, in which each MCP server is a mapping.
type yamlFormat struct{}

func (f yamlFormat) setServer(configBytes []byte, serversPath []string, entry any) ([]byte, error) {
	if _, err := f.decode(configBytes); err != nil {
		return nil, err
	}
	if existingFields := findCommandServer(f, configBytes, serversPath); existingFields != nil {
		entryYAML, err := yaml.Marshal(entry)
		var fields map[string]any
		if err == nil {
			err = yaml.Unmarshal(entryYAML, &fields)
		}
		if err != nil {
			return nil, err
		}
		mergedFields := mergeFields(existingFields, fields)
		if reflect.DeepEqual(mergedFields, existingFields) {
			return configBytes, nil
		}
		if contentAfter, ok := f.editServer(configBytes, serversPath, mergedFields); ok {
			return checkServerAdded(f, configBytes, contentAfter, serversPath)
		}
		entry = mergedFields
	}
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(len(yamlIndent))
	if err := errors.Join(encoder.Encode(map[string]any{serverName: entry}), encoder.Close()); err != nil {
		return nil, err
	}
	remainingContent := emptyMapping(serversPath[0]).ReplaceAll(removeMapping(configBytes, serversPath[0]), []byte("$1$2"))
	at, indent, ok := findChildren(remainingContent, serversPath[0])
	if !ok {
		if len(remainingContent) > 0 && remainingContent[len(remainingContent)-1] != '\n' {
			remainingContent = append(remainingContent, '\n')
		}
		remainingContent = append(remainingContent, serversPath[0]+":\n"...)
		at, indent = len(remainingContent), yamlIndent
	}
	var block []byte
	for line := range bytes.Lines(encoded.Bytes()) {
		block = append(append(block, indent...), line...)
	}
	contentAfter := append(append(remainingContent[:at:at], block...), remainingContent[at:]...)
	return checkServerAdded(f, configBytes, contentAfter, serversPath)
}

func (yamlFormat) inlineEntry(entry any) ([]byte, error) {
	var mapping yaml.Node
	if err := mapping.Encode(map[string]any{serverName: entry}); err != nil {
		return nil, err
	}
	mapping.Style = yaml.FlowStyle
	line, err := yaml.Marshal(&mapping)
	line = bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("{")), []byte("}"))
	return append(line, '\n'), err
}

func (f yamlFormat) removeServer(configBytes []byte, serversPath []string) ([]byte, error) {
	return checkOnlyServerChanged(f, configBytes, removeMapping(configBytes, serversPath[0]), serversPath)
}

func (yamlFormat) decode(configBytes []byte) (map[string]any, error) {
	var document yaml.Node
	var configValues map[string]any
	err := yaml.Unmarshal(configBytes, &document)
	if err == nil && len(document.Content) > 0 && document.Content[0].Kind != yaml.MappingNode && document.Content[0].Tag != "!!null" {
		return nil, errors.New("the file is not a mapping of names to values")
	}
	if err == nil {
		err = document.Decode(&configValues)
	}
	if err != nil {
		return nil, newSyntaxError("YAML", err)
	}
	return configValues, nil
}

const yamlIndent = "  "

func emptyMapping(key string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(["']?` + regexp.QuoteMeta(key) + `["']?:)[ \t]+(?:\{[ \t]*\}|null|~)([ \t]*(?:#.*)?)$`)
}

func findChildren(configBytes []byte, key string) (at int, indent string, ok bool) {
	offset := 0
	isKeyFound := false
	for line := range bytes.Lines(configBytes) {
		trimmedLine := bytes.TrimSpace(line)
		if isKeyFound && len(trimmedLine) > 0 && trimmedLine[0] != '#' {
			if indent = leadingSpace(line); indent == "" {
				indent = yamlIndent
			}
			return at, indent, true
		}
		offset += len(line)
		if !isKeyFound && leadingSpace(line) == "" && isBlockStart(trimmedLine, key) {
			isKeyFound, at = true, offset
		}
	}
	return at, yamlIndent, isKeyFound
}

// The lines from startIndex to endIndex exclude comments and blank lines between the opentabs entry and the next key.
func findServerLines(configBytes []byte, key string) (startIndex, endIndex int, indent string, ok bool) {
	at, indent, ok := findChildren(configBytes, key)
	if !ok {
		return 0, 0, "", false
	}
	isOwn := false
	offset := at
	for line := range bytes.Lines(configBytes[at:]) {
		trimmedLine := bytes.TrimSpace(line)
		isText := len(trimmedLine) > 0 && trimmedLine[0] != '#'
		if isText && len(leadingSpace(line)) < len(indent) {
			break
		}
		if isText && leadingSpace(line) == indent {
			if isOwn {
				break
			}
			if isOwn = isBlockStart(trimmedLine, serverName); isOwn {
				startIndex = offset
			}
		}
		offset += len(line)
		if isOwn && (isText || len(trimmedLine) > 0 && len(leadingSpace(line)) > len(indent)) {
			endIndex = offset
		}
	}
	return startIndex, endIndex, indent, isOwn
}

func removeMapping(configBytes []byte, key string) []byte {
	startIndex, endIndex, _, ok := findServerLines(configBytes, key)
	if !ok {
		return bytes.Clone(configBytes)
	}
	return append(bytes.Clone(configBytes[:startIndex]), configBytes[endIndex:]...)
}

func isBlockStart(trimmedLine []byte, key string) bool {
	for _, quotedKey := range []string{key, `"` + key + `"`, "'" + key + "'"} {
		if textAfterKey, ok := bytes.CutPrefix(trimmedLine, []byte(quotedKey+":")); ok {
			textAfterKey = bytes.TrimSpace(textAfterKey)
			return len(textAfterKey) == 0 || textAfterKey[0] == '#'
		}
	}
	return false
}

func leadingSpace(line []byte) string {
	return string(line[:len(line)-len(bytes.TrimLeft(line, " "))])
}
