package transport

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// clientRequests contains the server's pending requests to the client of one session. The
// methods of clientRequests are safe for concurrent use. From protocol version 2026-07-28
// on, the server sends no requests to clients (see Request.AsksByReply).
type clientRequests struct {
	mu          sync.Mutex               // the mutex guards the field answerFuncs
	answerFuncs map[string]func(message) // answerFuncs maps the key of each request's ID to a callback for one answer
}

// sendAndWait sends a request to the client, and returns the client's answer. If ctx ends first, sendAndWait cancels
// the request and returns ctx's error.
func (a *clientRequests) sendAndWait(ctx context.Context, send Send, method string, params any) (message, error) {
	if err := ctx.Err(); err != nil {
		return message{}, err
	}
	// The random ID is never reused, so that no late answer is mistaken for the answer to another request.
	id := "opentabs-" + strings.ToLower(rand.Text())
	key, answers := "s"+id, make(chan message, 1)
	a.expectAnswer(key, func(m message) { answers <- m }) // never blocks, because answers has room for one answer
	defer a.forgetRequest(key)
	if err := send(encodeJSON(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})); err != nil {
		return message{}, err
	}
	select {
	case m := <-answers:
		return m, nil
	case <-ctx.Done():
	}
	select {
	case m := <-answers: // the answer has arrived, so nothing is cancelled
		return m, nil
	default:
	}
	type cancelledParams struct {
		RequestID string `json:"requestId"`
		Reason    string `json:"reason"`
	}
	_ = send(encodeJSON(struct {
		JSONRPC string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Params  cancelledParams `json:"params"`
	}{"2.0", methodCancelled, cancelledParams{id, "it was decided elsewhere, or the call has ended"}}))
	return message{}, ctx.Err()
}

func (a *clientRequests) expectAnswer(key string, onAnswer func(message)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answerFuncs == nil {
		a.answerFuncs = map[string]func(message){}
	}
	a.answerFuncs[key] = onAnswer
}

func (a *clientRequests) forgetRequest(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answerFuncs, key)
}

func (a *clientRequests) handleAnswer(m message) {
	key, ok := requestKey(m.ID)
	if !ok {
		return
	}
	a.mu.Lock()
	onAnswer := a.answerFuncs[key]
	delete(a.answerFuncs, key)
	a.mu.Unlock()
	if onAnswer != nil {
		onAnswer(m)
	}
}

// askFunction returns the function that sends requests to the client, or nil if the client cannot show forms.
func (s *session) askFunction(send Send) Ask {
	if send == nil || s.listener == nil || !supportsForms(s.listener.GetClientCapabilities().Elicitation) {
		return nil
	}
	return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
		m, err := s.requests.sendAndWait(ctx, send, method, params)
		if err == nil && m.Result == nil {
			err = fmt.Errorf("the client answered with an error: %.300s", m.Error)
		}
		return m.Result, err
	}
}

// supportsForms reports whether a client with the elicitation capability c shows forms. A
// client that supports only the elicitation mode "url" shows no forms.
func supportsForms(c *mcp.ElicitationCapability) bool {
	return c != nil && (c.Form != nil || c.URL == nil)
}

func showsForms(capabilities json.RawMessage) bool {
	var c struct {
		Elicitation *mcp.ElicitationCapability `json:"elicitation"`
	}
	return json.Unmarshal(capabilities, &c) == nil && supportsForms(c.Elicitation)
}
