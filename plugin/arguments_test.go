package plugin_test

import (
	"encoding/json"
	"fmt"

	"opentabs/plugin"
)

func ExampleTool_Validate() {
	t := &plugin.Tool{
		Plugin: &plugin.Plugin{Name: "messages"}, Name: "export",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"labels":{"type":"array"}}}`),
	}
	fmt.Println(t.Validate(json.RawMessage(`{"labels":"urgent"}`)))
	// Output:
	// invalid arguments for messages__export:
	// - /labels: got string, want array
	// Nothing was run. Correct the arguments and call the tool again.
}
