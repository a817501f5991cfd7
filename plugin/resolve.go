package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// Resolve finds the tool that a nested call requests. The argument parent is the tool that
// makes the nested call. The argument name is a tool of the same plugin, a browser tool, or
// <plugin>__<tool>. Resolve validates args and returns the arguments to send. If args are
// empty, Resolve returns an empty object. If Resolve fails, the error code is unknown_tool or
// invalid_arguments. The error's text is for the author of the calling tool.
func (r *Registry) Resolve(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
	fullName := name
	if builtin, ok := r.Set().Tool(name); !strings.Contains(name, "__") && (!ok || !builtin.Plugin.IsBuiltin()) {
		fullName = parent.Plugin + "__" + name
	}
	t, ok := r.Set().Tool(fullName)
	name, _, _ = strings.Cut(fullName, "__")
	if f, hasFailed := r.Set().Failure(name); !ok && hasFailed {
		return dispatch.Tool{}, nil, &wire.CallError{Code: wire.ErrPluginBroken, Message: fmt.Sprintf("the plugin %s can't be loaded: %v", name, f.Err)}
	}
	if !ok {
		return dispatch.Tool{}, nil, &wire.CallError{Code: wire.ErrUnknownTool, Message: fmt.Sprintf(
			"there is no tool %.100q: name a tool of the same plugin, or <plugin>__<tool> of one that is added", fullName)}
	}
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if t.Plugin.IsBuiltin() && rawjson.Get(args, "tabId") != nil {
		return dispatch.Tool{}, nil, &wire.CallError{
			Code: wire.ErrInvalidArguments, Message: "name the tab as an option of context.call, not as an argument: {tabId: 7}",
			UserText: "The tool named a tab in an invalid way. Report this to the author of the plugin " + parent.Plugin + ".",
		}
	}
	if err := t.Validate(args); err != nil {
		code, userText := wire.ErrInternal, ""
		var e *dispatch.Error
		if errors.As(err, &e) {
			code, userText = e.Code, e.UserText
		}
		return dispatch.Tool{}, nil, &wire.CallError{Code: code, Message: err.Error(), UserText: userText}
	}
	return t.Dispatch(), args, nil
}
