package dispatch

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestViewContainsStartOfArguments(t *testing.T) {
	masked := func(i CallInfo) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(string(i.Args), "secret", "•••"))
	}
	d := New(newAllocFreeBridge(), Options{MaskArgs: masked})
	longArgs := `{"text":"` + strings.Repeat("x", 2*maxArgsStart) + `"}`
	for _, c := range []struct {
		args, want string
		place      TargetKind
	}{
		{`{}`, `{}`, TargetDocument},
		{`{"text":"secret"}`, `{"text":"secret"}`, TargetDocument},
		{`{"text":"secret"}`, `{"text":"•••"}`, TargetTab},
		{longArgs, longArgs[:maxArgsStart], TargetDocument},
	} {
		call := Call{Tool: Tool{Plugin: "p", Name: "t", TargetKind: c.place}, Args: json.RawMessage(c.args), TabID: 1}
		if _, err := d.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if got := d.Calls()[0].ArgsStart; got != c.want {
			t.Errorf("view of a call with the arguments %s has ArgsStart = %s", c.args, got)
		}
	}
}
