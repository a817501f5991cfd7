package main

import (
	"context"
	"encoding/json"
	"fmt"

	"opentabs/wire"
	"opentabs/wsbridge/wsbridgetest"
)

// The functions in this file are tools of the fake browser's plugin.

func reportActivities(ctx context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	reports := []wire.Report{
		{Activity: &wire.Activity{Type: "text", Content: json.RawMessage(`"one\u001b[2J\n"`)}, Audience: "user"},
		{Activity: &wire.Activity{Type: "table", Content: json.RawMessage(`[{"name":"a","size":1}]`)}},
		{Message: "half of it", Audience: "user"},
		{Message: "of no interest"},
	}
	if err := c.Report(reports...); err != nil {
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
	}
	if err := c.WaitForUser(ctx, "look at this"); err != nil {
		return nil, err
	}
	patch := json.RawMessage(`[{"op":"replace","path":"","value":"one\ntwo\nthree"}]`)
	err := c.Report(
		wire.Report{Activity: &wire.Activity{Type: "text", Patch: patch}},
		wire.Report{Activity: &wire.Activity{Type: "table", Patch: json.RawMessage(`[{"op":"add","path":"/-","value":{"name":"b","size":20}}]`)}},
		wire.Report{EndAudience: "user"},
	)
	if err != nil {
		return nil, &wire.CallError{Code: wire.ErrInternal, Message: err.Error()}
	}
	return json.RawMessage(`{"drawn":true}`), nil
}

func waitForLogin(ctx context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	if err := c.WaitForUser(ctx, "log in to the site"); err != nil {
		return nil, err
	}
	return json.RawMessage(`{"in":true}`), nil
}

func callSilentTool(ctx context.Context, c *wsbridgetest.Call) (json.RawMessage, *wire.CallError) {
	if _, err := c.Call(ctx, "silent", json.RawMessage(`{}`)); err != nil {
		return nil, &wire.CallError{Code: wire.ErrToolError, Message: fmt.Sprint("the inner call: ", err.Message)}
	}
	return json.RawMessage(`{}`), nil
}
