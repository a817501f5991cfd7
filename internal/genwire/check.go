package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"strings"
)

//go:embed globals.txt
var tsGlobalNames string

var allowedGlobalNames = map[string]string{
	"Report": "the global one belongs to the Reporting API, which nothing here uses",
}

func checkTypeName(name string) error {
	if allowedGlobalNames[name] == "" && strings.Contains(tsGlobalNames, "\n"+name+"\n") {
		return fmt.Errorf("type %s equals a global name of TypeScript; call it Wire%s, for example", name, name)
	}
	return nil
}

// checkField rejects a pointer or slice field without omitempty, because its zero value would be null in JSON. The name
// of a duration or size must end with its unit: idleTimeout must be idleTimeoutMs.
func checkField(fd field) error {
	switch {
	case (fd.isPointer || fd.isList) && !fd.isOptional:
		return errors.New("without omitempty its zero value is null on the wire; add omitempty")
	case (fd.typ == "int" || fd.typ == "float64") && lacksUnitSuffix(fd.name):
		return fmt.Errorf("add the unit to the name: %sMs, %sBytes or similar", fd.name, fd.name)
	}
	return nil
}

func lacksUnitSuffix(name string) bool {
	for _, word := range []string{"Timeout", "Delay", "Size", "Deadline"} {
		if strings.HasSuffix(name, word) || name == strings.ToLower(word) {
			return true
		}
	}
	return false
}

func (s *schema) check() error {
	enums, structs := map[string]bool{}, map[string]bool{}
	for _, en := range s.enums {
		enums[en.name] = true
		if len(en.enumValues) == 0 {
			return fmt.Errorf("type %s has no values; declare its constants, or use string", en.name)
		}
	}
	for _, st := range s.structs {
		structs[st.name] = true
	}
	for _, st := range s.structs {
		seenNames := map[string]bool{}
		for _, fd := range st.fields {
			switch {
			case seenNames[fd.name]:
				return fmt.Errorf("%s: two fields are called %q", st.name, fd.name)
			case ast.IsExported(fd.typ) && !enums[fd.typ] && !structs[fd.typ]:
				return fmt.Errorf("%s: %q has the type %s, which has no wire form", st.name, fd.name, fd.typ)
			case structs[fd.typ] && fd.isOptional && !fd.isList && !fd.isPointer:
				return fmt.Errorf("%s: omitempty does nothing for %q, a struct; use a pointer", st.name, fd.name)
			}
			seenNames[fd.name] = true
		}
	}
	return s.checkMethods(structs)
}

// Methods and types are matched by name: the wire method "tool.stop" needs the Go type ToolStopParams.
func (s *schema) checkMethods(structs map[string]bool) error {
	knownNames := map[string]bool{}
	for _, m := range s.methodValues() {
		baseName := methodTypeName(m)
		knownNames[baseName] = true
		if !structs[baseName+"Params"] {
			return fmt.Errorf("method %s needs type %sParams", m, baseName)
		}
	}
	for _, st := range s.structs {
		for _, suffix := range []string{"Params", "Result"} {
			if baseName, ok := strings.CutSuffix(st.name, suffix); ok && !knownNames[baseName] {
				return fmt.Errorf("type %s belongs to no method; add its Method constant or rename it", st.name)
			}
		}
	}
	return nil
}

func (s *schema) methodValues() []string {
	var methodNames []string
	for _, en := range s.enums {
		if en.name == "Method" {
			for _, v := range en.enumValues {
				methodNames = append(methodNames, strings.Trim(v.value, "'"))
			}
		}
	}
	return methodNames
}

func methodTypeName(method string) string {
	var baseName strings.Builder
	for word := range strings.SplitSeq(method, ".") {
		baseName.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return baseName.String()
}
