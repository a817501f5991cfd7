package undo

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/recorder"
	"opentabs/plugin"
	"opentabs/wire"
)

const (
	maxStoredCalls     = 500
	maxKeptBytes       = 16 << 20
	storedCallLifetime = time.Hour
)

// Memory keeps calls that can be undone, with their arguments and results, for up to an
// hour. Create a Memory with [NewMemory].
type Memory struct {
	plugins func() *plugin.Set

	mu    sync.Mutex     // the mutex guards all fields below
	calls []recordedCall // the recorded calls are sorted, oldest first
	bytes int
}

// recordedCall is a call with its arguments and its result.
type recordedCall struct {
	recordedEntry recorder.Entry
	resultErr     error
}

// NewMemory returns an empty Memory. The function plugins returns the loaded plugins,
// which declare the tools that can be undone.
func NewMemory(plugins func() *plugin.Set) *Memory { return &Memory{plugins: plugins} }

var _ dispatch.AfterHook = (*Memory)(nil)

// The method AfterCall implements [dispatch.AfterHook]: it stores the ended call if the call
// is done and its tool can be undone.
func (m *Memory) AfterCall(_ dispatch.CallInfo, e dispatch.EndedCall) {
	if e.View.Status != wire.StatusDone || e.View.Prompt {
		return
	}
	if tool, ok := m.plugins().Tool(e.View.ToolName); !ok || tool.Undo == nil {
		return
	}
	size := len(e.Args) + len(e.Output)
	if size > maxKeptBytes {
		return
	}
	callView := e.View
	callView.Activities, callView.Timeline = nil, nil
	callRecord := recorder.Record{View: callView, Args: e.Args, IsArgsIncomplete: e.IsArgsMasked, Output: outputOrNull(e.Output)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, recordedCall{recorder.Entry{Record: callRecord}, nil})
	m.bytes += size
	for len(m.calls) > maxStoredCalls || m.bytes > maxKeptBytes || time.Since(*m.calls[0].recordedEntry.Ended) > storedCallLifetime {
		m.bytes -= len(m.calls[0].recordedEntry.Args) + len(m.calls[0].recordedEntry.Output)
		m.calls = slices.Delete(m.calls, 0, 1)
	}
}

// If a tool returned undefined, its output is nil, which outputOrNull replaces with the JSON value
// null.
func outputOrNull(output json.RawMessage) json.RawMessage {
	if output == nil {
		return json.RawMessage("null")
	}
	return output
}

func (m *Memory) find(callID string) (recordedCall, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.calls, func(c recordedCall) bool { return c.recordedEntry.CallID == callID })
	if i < 0 || time.Since(*m.calls[i].recordedEntry.Ended) > storedCallLifetime {
		return recordedCall{}, false
	}
	return m.calls[i], true
}
