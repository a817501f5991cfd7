package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// parseTexts replaces the texts of arguments by the values that their schema allows;
// see [Validator.CheckTextArguments].
func parseTexts(args map[string]any, schema any) {
	root, _ := schema.(map[string]any)
	properties, _ := root["properties"].(map[string]any)
	required, _ := root["required"].([]any)
	for name, value := range args {
		property, known := properties[name]
		text, isText := value.(string)
		switch {
		case !known || !isText:
		case text == "" && !slices.Contains(required, any(name)):
			delete(args, name)
		case !allowsText(property, root, maxRefs):
			if parsed, ok := parseJSON(text); ok {
				args[name] = parsed
			}
		}
	}
}

// parseJSON parses a text that is exactly one JSON value.
func parseJSON(text string) (any, bool) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	return value, err == nil
}

// allowsText reports whether the types in schema allow a text. allowsText follows at
// most refs references.
func allowsText(schema any, root map[string]any, refs int) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema != false
	}
	every := func(key string, some bool) bool {
		list, ok := s[key].([]any)
		if !ok {
			return true
		}
		allows := func(sub any) bool { return allowsText(sub, root, refs) }
		if some {
			return slices.ContainsFunc(list, allows)
		}
		return !slices.ContainsFunc(list, func(sub any) bool { return !allows(sub) })
	}
	isText := func(v any) bool { _, ok := v.(string); return ok }
	switch kind := s["type"].(type) {
	case string:
		ok = kind == "string"
	case []any:
		ok = slices.Contains(kind, any("string"))
	}
	if values, given := s["enum"].([]any); given {
		ok = ok && slices.ContainsFunc(values, isText)
	}
	if value, given := s["const"]; given {
		ok = ok && isText(value)
	}
	if ref, given := s["$ref"].(string); given && refs > 0 {
		ok = ok && allowsText(followRef(ref, root), root, refs-1)
	}
	return ok && every("allOf", false) && every("anyOf", true) && every("oneOf", true)
}

// followRef returns the schema that a local reference names; nil, which allows
// everything, if there is none.
func followRef(ref string, root map[string]any) any {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil
	}
	var at any = root
	for token := range strings.SplitSeq(pointer, "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[pointerUnescape.Replace(token)]
	}
	return at
}
