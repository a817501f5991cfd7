// Package toolview describes the arguments of tools in the terminal, and builds example
// commands.
package toolview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

const maxDescriptionChars = 300

// Argument describes one argument of a tool for the user.
type Argument struct {
	Name string
	// Value describes the allowed values, such as "whole number" or "list of: text".
	Value string
	// Description is the argument's description, followed by its default value. The field
	// Description is empty if the argument has neither a description nor a default value.
	Description string
	IsRequired  bool

	schema argumentSchema
}

// argumentSchema has the JSON Schema keywords that describe an argument of a tool.
type argumentSchema struct {
	Type        json.RawMessage   `json:"type"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	AnyOf       []argumentSchema  `json:"anyOf"`
	OneOf       []argumentSchema  `json:"oneOf"`
	Items       json.RawMessage   `json:"items"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	Minimum     json.RawMessage   `json:"minimum"`
	Description string            `json:"description"`
}

// Arguments returns the arguments that a tool's input schema declares, required arguments
// first.
func Arguments(inputSchema json.RawMessage) []Argument {
	var requiredNames []string
	for _, name := range rawjson.Elements(rawjson.Get(inputSchema, "required")) {
		requiredNames = append(requiredNames, rawjson.Unquote(name))
	}
	var firstArguments, laterArguments []Argument
	for m := range rawjson.Members(rawjson.Get(inputSchema, "properties")) {
		a := Argument{Name: m.Key, IsRequired: slices.Contains(requiredNames, m.Key)}
		_ = json.Unmarshal(m.Value, &a.schema)
		a.Value, a.Description = a.schema.describeValues(), plaintext.Line(a.schema.Description, maxDescriptionChars)
		if a.schema.Default != nil {
			a.Description = strings.TrimSpace(fmt.Sprintf("%s Default: %s.", addFinalPeriod(a.Description), plaintext.Line(string(a.schema.Default), maxDescriptionChars)))
		}
		if a.IsRequired {
			firstArguments = append(firstArguments, a)
		} else {
			laterArguments = append(laterArguments, a)
		}
	}
	return append(firstArguments, laterArguments...)
}

func addFinalPeriod(description string) string {
	if description == "" || strings.ContainsAny(description[len(description)-1:], ".!?:;") {
		return description
	}
	return description + "."
}

// typeWords maps the types of JSON Schema to words that users understand.
var typeWords = map[string]string{
	"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "array": "list", "object": "object", "null": "null",
}

func (s argumentSchema) describeValues() string {
	if len(s.Enum) > 0 {
		return joinWithOr(s.Enum)
	}
	if s.Const != nil {
		return string(s.Const)
	}
	var alternatives []string
	for _, alternative := range append(slices.Clone(s.AnyOf), s.OneOf...) {
		if kind := alternative.describeValues(); !slices.Contains(alternatives, kind) {
			alternatives = append(alternatives, kind)
		}
	}
	for _, name := range s.types() {
		kind := cmp.Or(typeWords[name], name)
		if name == "array" {
			var items argumentSchema
			if json.Unmarshal(s.Items, &items) == nil {
				kind = "list of: " + items.describeValues()
			}
		}
		alternatives = append(alternatives, kind)
	}
	return cmp.Or(strings.Join(alternatives, " or "), "any")
}

func (s argumentSchema) types() []string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil && one != "" {
		return []string{one}
	}
	var typeNames []string
	_ = json.Unmarshal(s.Type, &typeNames) // a schema without types allows any type
	return typeNames
}

func joinWithOr(values []json.RawMessage) string {
	shownTexts := make([]string, len(values))
	for i, valueJSON := range values {
		shownTexts[i] = plaintext.Line(textOf(valueJSON), maxDescriptionChars)
	}
	if len(shownTexts) < 2 {
		return strings.Join(shownTexts, "")
	}
	return strings.Join(shownTexts[:len(shownTexts)-1], ", ") + " or " + shownTexts[len(shownTexts)-1]
}

// Example returns a shell command that calls a tool with example values for its required arguments. Words in capital
// letters in the command are placeholders that the user replaces with values.
func Example(fullName string, inputSchema json.RawMessage) string {
	words := []string{"opentabs call", fullName}
	for _, a := range Arguments(inputSchema) {
		if a.IsRequired {
			words = append(words, "--arg", quoteForShell(a.Name+"="+a.schema.exampleValue(a.Name)))
		}
	}
	return strings.Join(words, " ")
}

func (s argumentSchema) exampleValue(name string) string {
	for _, valueJSON := range []json.RawMessage{firstValue(s.Examples), s.Default, firstValue(s.Enum), s.Const, s.Minimum} {
		if valueJSON != nil {
			return textOf(valueJSON)
		}
	}
	for _, kind := range s.types() {
		switch kind {
		case "integer", "number":
			return "1"
		case "boolean":
			return "true"
		case "object":
			return "{}"
		case "array":
			var items argumentSchema
			_ = json.Unmarshal(s.Items, &items)
			return items.exampleValue(strings.TrimSuffix(name, "s"))
		}
	}
	return strings.ToUpper(name)
}

func textOf(valueJSON json.RawMessage) string {
	if len(valueJSON) > 0 && valueJSON[0] == '"' {
		return rawjson.Unquote(valueJSON)
	}
	return string(valueJSON)
}

func firstValue(values []json.RawMessage) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

func quoteForShell(word string) string {
	word = plaintext.Line(word, maxDescriptionChars)
	isPlain := func(r rune) bool {
		return r == '=' || r == '_' || r == '-' || r == '.' || r == '/' || r == ':' || r == ',' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if strings.IndexFunc(word, func(r rune) bool { return !isPlain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
