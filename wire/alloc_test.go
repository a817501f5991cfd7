package wire

import (
	"testing"

	"opentabs/internal/alloctest"
)

// One call allocates memory only for the request frame and for the ID of the answer. Decoding a tool's result allocates
// no memory, because the decoded result shares the memory of the frame.
func TestFrameAllocations(t *testing.T) {
	params := &ToolDispatchParams{
		DispatchID: "call_1", Plugin: "chat", Tool: "export", TabID: 7, DocumentID: "d7", MaxResultBytes: 1 << 20,
		Args: []byte(`{"text":"hello"}`),
	}
	alloctest.Check(t, "encoding a tool.dispatch", 1, 1, func() { AppendDispatch(nil, params) })

	responseFrame := AppendResult(nil, "call_1", []byte(`{"output":{"text":"hello"}}`))
	alloctest.Check(t, "decoding an answer", 1, 2, func() {
		e, err := Parse(responseFrame)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeDispatchResult(e.Result); err != nil {
			t.Fatal(err)
		}
	})
}
