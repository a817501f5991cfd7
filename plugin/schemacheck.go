package plugin

import (
	"encoding/json"

	"opentabs/internal/jsonread"
	"opentabs/plugin/schema"
)

// CheckSchemas compiles all schemas of the plugin. It returns a *[PackageError] with
// each schema that does not compile. It takes about 0.3 ms for each schema, so [Load]
// does not call it; build, add, install and the reload of a changed folder do.
func (p *Plugin) CheckSchemas() error {
	to := jsonread.Problems{File: toolsFile}
	check := func(list string, i int, name, key string, raw json.RawMessage) {
		var v schema.Validator // not kept: most schemas are never used
		if err := v.Compile(raw); err != nil {
			to.Add("%s[%d].%s of %s does not compile: %s; correct the schema", list, i, key, name, schema.CompileProblem(err))
		}
	}
	for i, t := range p.Tools {
		check("tools", i, t.Name, "input_schema", t.InputSchema)
		check("tools", i, t.Name, "output_schema", t.OutputSchema)
	}
	for i, prompt := range p.Prompts {
		check("prompts", i, prompt.Name, "input_schema", prompt.InputSchema)
	}
	if len(to.List) > 0 {
		return &PackageError{Dir: p.Dir, Problems: to.List}
	}
	return nil
}
