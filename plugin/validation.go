package plugin

import (
	"encoding/json"

	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
	"opentabs/plugin/schema"
	"opentabs/wire"
)

// CheckSchemas compiles all schemas of the plugin. The error of CheckSchemas is a
// *[PackageError] that lists each schema that does not compile. Compiling takes about 0.3 ms
// per schema, so [Load] does not call CheckSchemas. CheckSchemas runs when a plugin is built,
// added or installed, and when a plugin's changed folder is reloaded.
func (p *Plugin) CheckSchemas() error {
	problems := jsonread.Problems{File: toolsFile}
	checkSchema := func(listName string, i int, name, key string, rawJSON json.RawMessage) {
		var v schema.Validator // v is discarded, because most compiled schemas are never used
		if err := v.Compile(rawJSON); err != nil {
			problems.Add("%s[%d].%s of %s does not compile: %s; correct the schema", listName, i, key, name, schema.CompileProblem(err))
		}
	}
	for i, t := range p.Tools {
		checkSchema("tools", i, t.Name, "input_schema", t.InputSchema)
		checkSchema("tools", i, t.Name, "output_schema", t.OutputSchema)
	}
	for i, prompt := range p.Prompts {
		checkSchema("prompts", i, prompt.Name, "input_schema", prompt.InputSchema)
	}
	if len(problems.List) > 0 {
		return &PackageError{Dir: p.Dir, Problems: problems.List}
	}
	return nil
}

// Validate checks the arguments of a tool call; see [schema.Validator.CheckArguments].
func (t *Tool) Validate(args json.RawMessage) error {
	return t.arguments.CheckArguments(t.validationSubject(), t.InputSchema, args)
}

// DeclaresResults reports whether results of the tool must match its output schema. The
// results must match only if the root of the output schema is an object. Output schemas of the
// original OpenTabs SDK (sdkVersion 0.0.x) were never checked, so agents do not receive them.
func (t *Tool) DeclaresResults() bool {
	t.outputKindOnce.Do(func() { t.hasObjectOutput = IsObjectSchema(t.OutputSchema) })
	return t.hasObjectOutput && !t.Plugin.IsForOriginalSDK
}

// IsObjectSchema reports whether the root of a compact JSON Schema has "type": "object", the
// only type that MCP allows.
func IsObjectSchema(schema json.RawMessage) bool {
	return string(rawjson.Get(schema, "type")) == `"object"`
}

// ValidateResult checks whether the result of a tool call matches the tool's output schema. If
// the tool returned JavaScript's undefined, the result is nil. See
// [schema.Validator.CheckResult].
func (t *Tool) ValidateResult(toolResult json.RawMessage) *wire.CallError {
	return t.results.CheckResult(t.OutputSchema, toolResult)
}

// CheckOutput implements [dispatch.OutputChecker]. If opentabs did not check a tool's output,
// MCP clients would reject an invalid output with an error that names neither the plugin nor a
// remedy.
func (t *Tool) CheckOutput(output json.RawMessage) *wire.CallError {
	if !t.DeclaresResults() {
		return nil
	}
	return t.ValidateResult(output)
}

func (t *Tool) validationSubject() schema.Subject {
	return schema.Subject{Name: t.Name, TargetKind: t.TargetKind, RetryAdvice: "call the tool again", Plugin: t.Plugin.Name, Version: t.Plugin.Version}
}
