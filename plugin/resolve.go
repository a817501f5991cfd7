package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Resolve finds the tool that a tool of parent wants to call: name is that of a
// tool of the same plugin, or <plugin>__<tool>. It validates args and returns
// them as they should be sent; none stand for an empty object. The error is
// unknown_tool or invalid_arguments, for the author of the calling tool.
func (r *Registry) Resolve(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
	full := name
	if !strings.Contains(name, "__") {
		full = parent.Plugin + "__" + name
	}
	t, ok := r.Set().Tool(full)
	name, _, _ = strings.Cut(full, "__")
	if f, failed := r.Set().Failure(name); !ok && failed {
		return dispatch.Tool{}, nil, &wire.CallError{Code: wire.ErrPluginBroken, Message: fmt.Sprintf("the plugin %s can't be loaded: %v", name, f.Err)}
	}
	if !ok {
		return dispatch.Tool{}, nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: fmt.Sprintf(
			"there is no tool %.100q: name a tool of the same plugin, or <plugin>__<tool> of one that is added", full)}
	}
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if err := t.Validate(args); err != nil {
		code := wire.ErrInternal
		var e *dispatch.Error
		if errors.As(err, &e) {
			code = e.Code
		}
		return dispatch.Tool{}, nil, &wire.CallError{Code: code, Message: err.Error()}
	}
	return t.Dispatch(), args, nil
}
