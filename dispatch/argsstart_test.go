package dispatch

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestViewContainsStartOfArguments(t *testing.T) {
	maskSecret := func(i CallInfo) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(string(i.Args), "secret", "•••"))
	}
	d := New(newAllocFreeBridge(), Options{MaskArgs: maskSecret})
	longArgs := `{"text":"` + strings.Repeat("x", 2*maxArgsStart) + `"}`
	for _, c := range []struct {
		args, want string
		targetKind TargetKind
	}{
		{`{}`, `{}`, TargetDocument},
		{`{"text":"secret"}`, `{"text":"secret"}`, TargetDocument},
		{`{"text":"secret"}`, `{"text":"•••"}`, TargetTab},
		{longArgs, longArgs[:maxArgsStart], TargetDocument},
	} {
		call := Call{Tool: Tool{Plugin: "p", Name: "t", TargetKind: c.targetKind}, Args: json.RawMessage(c.args), TabID: 1}
		if _, err := d.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if got := d.Calls()[0].ArgsStart; got != c.want {
			t.Errorf("ArgsStart of a call with the arguments %s = %s, want %s", c.args, got, c.want)
		}
	}
}
