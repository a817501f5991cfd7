package browser

import (
	"encoding/json"
	"slices"
	"testing"

	"opentabs/plugin"
)

func TestPerformanceToolClasses(t *testing.T) {
	const tool = "browser_performance"
	for args, want := range map[string]toolClass{
		`{"action":"start"}`:                 classRead,
		`{"action":"start","reload":false}`:  classRead,
		`{"action":"start","reload":true}`:   classAct,
		`{"action":"start","reload": true }`: classAct,
		`{"action":"stop"}`:                  classRead,
	} {
		if got := classOfTool(tool, json.RawMessage(args)); got != want {
			t.Errorf("class of %s with the arguments %s = %s, want %s", tool, args, got, want)
		}
	}
	if CheckCapability(tool, nil) == nil {
		t.Errorf("the tool %s runs without the debugger, want an error about the debugger", tool)
	}
	i := slices.IndexFunc(Plugin().Tools, func(listedTool *plugin.Tool) bool { return listedTool.Name == tool })
	if i < 0 {
		t.Fatalf("the list of tools lacks %s, want it listed", tool)
	}
	if listedTool := Plugin().Tools[i]; listedTool.Annotations.ReadOnly != nil || !listedTool.IsExclusive {
		t.Errorf("%s is listed as read-only or parallel (exclusive = %t), want neither, because the tool can reload the page", tool, listedTool.IsExclusive)
	}
}
