package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func parseTextArguments(args map[string]any, schema any) {
	root, _ := schema.(map[string]any)
	properties, _ := root["properties"].(map[string]any)
	requiredNames, _ := root["required"].([]any)
	for name, value := range args {
		property, isKnown := properties[name]
		stringValue, isText := value.(string)
		switch {
		case !isKnown || !isText:
		case stringValue == "" && !slices.Contains(requiredNames, any(name)):
			delete(args, name)
		case !allowsStringType(property, root, maxConsecutiveRefs):
			if parsedValue, ok := parseJSON(stringValue); ok {
				args[name] = parsedValue
			}
		}
	}
}

func parseJSON(jsonText string) (any, bool) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(jsonText))
	return value, err == nil
}

func allowsStringType(schema any, root map[string]any, remainingRefs int) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema != false
	}
	checkSubschemas := func(key string, needsOneMatch bool) bool {
		subschemas, ok := s[key].([]any)
		if !ok {
			return true
		}
		allowsSubschema := func(sub any) bool { return allowsStringType(sub, root, remainingRefs) }
		if needsOneMatch {
			return slices.ContainsFunc(subschemas, allowsSubschema)
		}
		return !slices.ContainsFunc(subschemas, func(sub any) bool { return !allowsSubschema(sub) })
	}
	isText := func(v any) bool { _, ok := v.(string); return ok }
	switch typeName := s["type"].(type) {
	case string:
		ok = typeName == "string"
	case []any:
		ok = slices.Contains(typeName, any("string"))
	}
	if allowedValues, isGiven := s["enum"].([]any); isGiven {
		ok = ok && slices.ContainsFunc(allowedValues, isText)
	}
	if value, isGiven := s["const"]; isGiven {
		ok = ok && isText(value)
	}
	if ref, isGiven := s["$ref"].(string); isGiven && remainingRefs > 0 {
		ok = ok && allowsStringType(followRef(ref, root), root, remainingRefs-1)
	}
	return ok && checkSubschemas("allOf", false) && checkSubschemas("anyOf", true) && checkSubschemas("oneOf", true)
}

func followRef(ref string, root map[string]any) any {
	pointer, isLocalRef := strings.CutPrefix(ref, "#/")
	if !isLocalRef {
		return nil
	}
	var currentSchema any = root
	for token := range strings.SplitSeq(pointer, "/") {
		object, ok := currentSchema.(map[string]any)
		if !ok {
			return nil
		}
		currentSchema = object[pointerUnescape.Replace(token)]
	}
	return currentSchema
}
