package setup

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The result ok is false if editServer does not support the layout of the file.
func (f yamlFormat) editServer(configBytes []byte, serversPath []string, mergedFields map[string]any) (contentAfter []byte, ok bool) {
	startIndex, endIndex, indent, ok := findServerLines(configBytes, serversPath[0])
	if !ok {
		return nil, false
	}
	var lines []byte
	stepIndex := 0
	for line := range bytes.Lines(configBytes[startIndex:endIndex]) {
		line = bytes.TrimPrefix(line, []byte(indent))
		lines = append(lines, line...)
		if stepIndex == 0 {
			stepIndex = len(leadingSpace(line))
		}
	}
	var document yaml.Node
	if yaml.Unmarshal(lines, &document) != nil || len(document.Content) != 1 || len(document.Content[0].Content) != 2 {
		return nil, false
	}
	if err := setYAMLValues(document.Content[0].Content[1], mergedFields); err != nil {
		return nil, false
	}
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(max(stepIndex, len(yamlIndent)))
	if errors.Join(encoder.Encode(&document), encoder.Close()) != nil {
		return nil, false
	}
	contentAfter = bytes.Clone(configBytes[:startIndex])
	for line := range bytes.Lines(encoded.Bytes()) {
		if len(bytes.TrimSpace(line)) > 0 {
			contentAfter = append(contentAfter, indent...)
		}
		contentAfter = append(contentAfter, line...)
	}
	contentAfter = append(contentAfter, configBytes[endIndex:]...)
	configValues, err := f.decode(contentAfter)
	return contentAfter, err == nil && reflect.DeepEqual(findServer(configValues, serversPath), any(mergedFields))
}

// Keys and values of the mapping that do not change keep their layout in the file.
func setYAMLValues(mapping *yaml.Node, mergedFields map[string]any) error {
	if mapping.Kind != yaml.MappingNode {
		return errors.New("the node is not a mapping")
	}
	hasKey := map[string]bool{}
	var content []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		value, isKept := mergedFields[key.Value]
		if !isKept {
			continue
		}
		hasKey[key.Value] = true
		if err := setYAMLValue(node, value); err != nil {
			return err
		}
		content = append(content, key, node)
	}
	for _, name := range slices.Sorted(maps.Keys(mergedFields)) {
		if hasKey[name] {
			continue
		}
		var key, node yaml.Node
		if err := errors.Join(key.Encode(name), node.Encode(mergedFields[name])); err != nil {
			return err
		}
		content = append(content, &key, &node)
	}
	mapping.Content = content
	return nil
}

func setYAMLValue(node *yaml.Node, value any) error {
	var oldFields any
	if err := node.Decode(&oldFields); err != nil || reflect.DeepEqual(oldFields, value) {
		return err
	}
	if object, isObject := value.(map[string]any); isObject && node.Kind == yaml.MappingNode {
		return setYAMLValues(node, object)
	}
	var replacement yaml.Node
	if err := replacement.Encode(value); err != nil {
		return err
	}
	replacement.HeadComment, replacement.LineComment, replacement.FootComment = node.HeadComment, node.LineComment, node.FootComment
	*node = replacement
	return nil
}
