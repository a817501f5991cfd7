package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"opentabs/mcpserver/transport"
	"opentabs/plugin"
)

// Package plugin has its own list of built-in tools, because it cannot import package mcpserver.
func TestBuiltinToolListsAreEqual(t *testing.T) {
	pluginBuiltinNames := slices.Sorted(slices.Values(plugin.BuiltinToolNames))
	if serverBuiltinNames := slices.Sorted(maps.Keys(indexByName(slices.Collect(maps.Values(builtinTools)), gatewayBuiltinTools))); !slices.Equal(serverBuiltinNames, pluginBuiltinNames) {
		t.Errorf("tools of package mcpserver = %q; plugin.OwnTools = %q; want equal lists", serverBuiltinNames, pluginBuiltinNames)
	}
}

// Errors about arguments must name the argument and what it must be, without terms of Go.
func TestDecodeArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:                        "",
		`{"query":"a","limit":2}`:   "",
		`{"qurey":"a"}`:             `"qurey" is unknown (did you mean query?); allowed: query, limit, names`,
		`{"query":5}`:               `"query" has the type number, but it must be text`,
		`{"query":"a","limit":"2"}`: `"limit" has the type string, but it must be an integer`,
		`{"query":"a","names":"b"}`: `"names" has the type string, but it must be a list of texts`,
		`{"query":"a","QUERY":"b"}`: `"QUERY" is unknown (did you mean query?)`,
		`["a"]`:                     "they are an array, but they must be an object",
	} {
		var decoded struct {
			Query string   `json:"query"`
			Limit int      `json:"limit"`
			Names []string `json:"names"`
		}
		var q request
		q.Params = &transport.Params{Name: "tools_search", Arguments: json.RawMessage(args)}
		err := decodeArguments(q, &decoded)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, "The arguments of tools_search do not match its schema: "+want) {
			t.Errorf("error for the arguments %s of tools_search = %s, want %s", args, got, want)
		}
	}
}
