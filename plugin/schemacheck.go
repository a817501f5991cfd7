package plugin

import (
	"encoding/json"
	"fmt"
	"strings"

	"opentabs/internal/plaintext"
)

// maxCompileText is how much of a compiler's error is shown, in characters.
const maxCompileText = 300

// CheckSchemas compiles all schemas of the plugin. The error is a *[PackageError]
// that names each schema that does not compile. It takes about 0.3 ms a schema, so
// [Load] leaves it to those who bring new content: build, add, install, and a
// reload of a folder that has changed.
func (p *Plugin) CheckSchemas() error {
	to := problems{file: toolsFile}
	check := func(list string, i int, name, key string, schema json.RawMessage) {
		var v validator // not kept: most schemas are never used
		if err := v.prepare(schema); err != nil {
			to.add("%s[%d].%s of %s does not compile: %s; correct the schema", list, i, key, name, compileText(err))
		}
	}
	for i, t := range p.Tools {
		check("tools", i, t.Name, "input_schema", t.InputSchema)
		check("tools", i, t.Name, "output_schema", t.OutputSchema)
	}
	for i, prompt := range p.Prompts {
		check("prompts", i, prompt.Name, "input_schema", prompt.InputSchema)
	}
	if len(to.list) > 0 {
		return &PackageError{Dir: p.Dir, Problems: to.list}
	}
	return nil
}

// compileText is the compiler's error without the name that the schema has while
// it is compiled.
func compileText(err error) string {
	text := strings.NewReplacer(schemaURL+"#", "#", schemaURL, "#").Replace(err.Error())
	return fmt.Sprintf("%q", plaintext.Line(text, maxCompileText))
}
