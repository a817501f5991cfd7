package wsbridge

import (
	"encoding/json"

	"opentabs/wire"
)

// Answer implements dispatch.Bridge.
func (h *Hub) Answer(id string, ask int, output json.RawMessage, err *wire.CallError) {
	frame := wire.AppendRequest(nil, "answer:"+id, wire.MethodToolAnswer,
		marshal(wire.ToolAnswerParams{DispatchID: id, Ask: ask, Output: output, Error: err}))
	h.toRun(id, frame)
}

// Resync implements dispatch.Bridge.
func (h *Hub) Resync(id, activityType string) {
	h.toRun(id, wire.AppendNotification(nil, wire.MethodToolResync,
		marshal(wire.ToolResyncParams{DispatchID: id, ActivityType: activityType})))
}

// toRun sends a frame to the browser of a run.
func (h *Hub) toRun(id string, frame []byte) {
	for _, b := range h.list() {
		b.mu.Lock()
		if b.runs[id] != nil && b.link != nil {
			b.link.post(frame)
		}
		b.mu.Unlock()
	}
}
