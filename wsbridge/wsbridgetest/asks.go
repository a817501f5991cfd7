package wsbridgetest

import (
	"context"
	"encoding/json"

	"opentabs/wire"
)

// requestKey identifies one request (tool.ask) of a tool call.
type requestKey struct {
	dispatchID    string
	requestNumber int
}

// Call calls another tool, as context.call does in a page. If ctx ends before the answer
// arrives, Call withdraws the request and returns the error cancelled.
func (c *Call) Call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, *wire.CallError) {
	return c.sendToolRequest(ctx, wire.ToolAskParams{Call: &wire.AskCall{Tool: tool, Args: args}})
}

// WaitForUser waits for the user, as context.waitForUser does in a page. If ctx ends
// before the answer arrives, WaitForUser returns the error cancelled.
func (c *Call) WaitForUser(ctx context.Context, waitReason string) *wire.CallError {
	_, err := c.sendToolRequest(ctx, wire.ToolAskParams{User: &wire.AskUser{Reason: waitReason}})
	return err
}

func (c *Call) sendToolRequest(ctx context.Context, p wire.ToolAskParams) (json.RawMessage, *wire.CallError) {
	b := c.browser
	responses := make(chan wire.ToolAnswerParams, 1)
	b.mu.Lock()
	b.requestCounts[c.DispatchID]++
	p.DispatchID, p.Ask = c.DispatchID, b.requestCounts[c.DispatchID]
	b.pendingToolRequests[requestKey{p.DispatchID, p.Ask}] = responses
	b.mu.Unlock()
	if err := b.notify(wire.MethodToolAsk, p); err != nil {
		return nil, &wire.CallError{Code: wire.ErrLinkLost, Message: err.Error()}
	}
	select {
	case receivedAnswer := <-responses:
		return receivedAnswer.Output, receivedAnswer.Error
	case <-ctx.Done():
		b.removeToolRequest(p.DispatchID, p.Ask)
		_ = b.notify(wire.MethodToolAsk, wire.ToolAskParams{DispatchID: p.DispatchID, Ask: p.Ask, Withdrawn: true})
		return nil, &wire.CallError{Code: wire.ErrCancelled, Message: context.Cause(ctx).Error()}
	}
}

func (b *Browser) removeToolRequest(dispatchID string, requestNumber int) chan<- wire.ToolAnswerParams {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := requestKey{dispatchID, requestNumber}
	toolAnswers := b.pendingToolRequests[id]
	delete(b.pendingToolRequests, id)
	return toolAnswers
}

func (b *Browser) deliverAnswer(id string, p wire.ToolAnswerParams) error {
	toolAnswers := b.removeToolRequest(p.DispatchID, p.Ask)
	if toolAnswers != nil {
		toolAnswers <- p // never blocks, because the channel is buffered for the only answer
	}
	return b.respond(id, wire.ToolAnswerResult{WasExpected: toolAnswers != nil})
}
