// Package plugintest writes plugin packages for tests.
package plugintest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/plugin"
)

// Package describes a plugin package to write. Empty fields of Package get valid default
// values.
type Package struct {
	// Name is the plugin's name; the default is "messages".
	Name string
	// The field Matches contains the URL patterns of the plugin; the default is
	// "*://localhost/*".
	Matches []string
	// The field Tools contains the tools in dist/tools.json; the default is one tool
	// "echo".
	Tools []Tool
	// The field Prompts contains the prompts in dist/tools.json; none by default.
	Prompts []Prompt
	// Code is the adapter's code without the hash statement that a build appends. By
	// default, Code is a short script.
	Code string
	// PreScript is the code of the pre-script; by default, the package has no pre-script.
	PreScript string
	// Settings is the member configSchema of dist/tools.json; by default, the package
	// declares no settings.
	Settings json.RawMessage
	// SDKVersion is the SDK version in dist/tools.json; the default is "0.1.0".
	SDKVersion string
}

// Tool is one tool in dist/tools.json.
type Tool struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	Description string `json:"description"`
	Group       string `json:"group,omitempty"`
	// Input defaults to a schema for any object, and Output to a schema for any value.
	Input       json.RawMessage     `json:"input_schema"`
	Output      json.RawMessage     `json:"output_schema"`
	Annotations *plugin.Annotations `json:"annotations,omitempty"`
}

// Prompt is one prompt in dist/tools.json.
type Prompt struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	Description string `json:"description,omitempty"`
	// Input is the schema of the prompt's arguments; by default, the prompt has no
	// schema.
	Input json.RawMessage `json:"input_schema"`
}

// Write writes the package to a new temporary folder and returns the folder's path.
func (p Package) Write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	p.WriteTo(t, dir)
	return dir
}

// WriteTo writes the package to the folder dir and replaces existing files.
func (p Package) WriteTo(t testing.TB, dir string) {
	t.Helper()
	p.fillDefaults()
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	writePackageFile := func(file string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writePackageFile("package.json", encodeJSON(t, map[string]any{
		"name": "opentabs-plugin-" + p.Name, "version": "1.0.0", "main": "dist/adapter.iife.js",
		"opentabs": map[string]any{"displayName": "The " + p.Name, "description": "A plugin for tests.", "urlPatterns": p.Matches},
	}))
	tools := map[string]any{"sdkVersion": p.SDKVersion, "tools": p.Tools}
	if len(p.Prompts) > 0 {
		tools["prompts"] = p.Prompts
	}
	if p.Settings != nil {
		tools["configSchema"] = p.Settings
	}
	if p.PreScript != "" {
		tools["preScriptFile"] = "pre-script.iife.js"
		tools["preScriptHash"] = fmt.Sprintf("%x", sha256.Sum256([]byte(p.PreScript)))
		writePackageFile("dist/pre-script.iife.js", []byte(p.PreScript))
	}
	writePackageFile("dist/tools.json", encodeJSON(t, tools))
	writePackageFile("dist/adapter.iife.js", Adapter(p.Name, p.Code))
}

func (p *Package) fillDefaults() {
	if p.Name == "" {
		p.Name = "messages"
	}
	if p.Matches == nil {
		p.Matches = []string{"*://localhost/*"}
	}
	if p.SDKVersion == "" {
		p.SDKVersion = "0.1.0"
	}
	if p.Code == "" {
		p.Code = fmt.Sprintf("(()=>{globalThis.__openTabs.adapters[%q]={tools:[]}})();\n", p.Name)
	}
	if p.Tools == nil {
		p.Tools = []Tool{{Name: "echo", Description: "Returns its arguments."}}
	}
	tools := make([]Tool, len(p.Tools))
	for i, tool := range p.Tools {
		if tool.Input == nil {
			tool.Input = json.RawMessage(`{"type":"object"}`)
		}
		if tool.Output == nil {
			tool.Output = json.RawMessage(`{}`)
		}
		tools[i] = tool
	}
	p.Tools = tools
	prompts := make([]Prompt, len(p.Prompts))
	for i, prompt := range p.Prompts {
		if prompt.Input == nil {
			prompt.Input = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
		}
		prompts[i] = prompt
	}
	p.Prompts = prompts
}

// Adapter returns code followed by the hash statement that a build appends.
func Adapter(name, code string) []byte {
	const scriptStatement = `(function(){var o=(globalThis).__openTabs;var a=o.adapters[%q];a.__adapterHash="%x";Object.freeze(a);})();` + "\n"
	return append([]byte(code), fmt.Sprintf(scriptStatement, name, sha256.Sum256([]byte(code)))...)
}

func encodeJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Load writes a package to a temporary folder and loads the package.
func Load(t testing.TB, p Package) *plugin.Plugin {
	t.Helper()
	loadedPlugin, err := plugin.Load(p.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	return loadedPlugin
}

// Registry returns a registry that has loaded the given packages, and the registry's
// store.
func Registry(t testing.TB, packages ...Package) (*plugin.Registry, *plugin.Store) {
	t.Helper()
	store := plugin.NewStore(t.TempDir(), plugin.StoreOptions{})
	for _, p := range packages {
		if _, err := store.Add(p.Write(t)); err != nil {
			t.Fatal(err)
		}
	}
	registry := plugin.NewRegistry(store, zerolog.Nop())
	if err := registry.Reload(); err != nil {
		t.Fatal(err)
	}
	return registry, store
}
