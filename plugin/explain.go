package plugin

import "github.com/santhosh-tekuri/jsonschema/v6"

func explain(e *jsonschema.ValidationError, doc any) []string { return []string{e.Error()} }

func location(at string) string {
	if at == "" {
		return "/"
	}
	return at
}
