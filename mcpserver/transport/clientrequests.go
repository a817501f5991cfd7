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
// on, the server sends no requests to clients (see Request.CanAskInReply).
type clientRequests struct {
	mu              sync.Mutex                  // guards answerCallbacks
	answerCallbacks map[string]func(rpcMessage) // callbacks by the key of the request's ID; each is called with one answer
}

// sendAndWait sends a request to the client, and returns the client's answer. If ctx ends first, sendAndWait cancels
// the request and returns ctx's error.
func (a *clientRequests) sendAndWait(ctx context.Context, sendMessage Send, method string, params any) (rpcMessage, error) {
	if err := ctx.Err(); err != nil {
		return rpcMessage{}, err
	}
	// The random ID is never reused, so that no late answer is mistaken for the answer to another request.
	id := "opentabs-" + strings.ToLower(rand.Text())
	key, responses := "s"+id, make(chan rpcMessage, 1)
	a.addAnswerCallback(key, func(m rpcMessage) { responses <- m }) // never blocks, because the channel has room for one answer
	defer a.forgetRequest(key)
	if err := sendMessage(encodeJSON(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})); err != nil {
		return rpcMessage{}, err
	}
	select {
	case m := <-responses:
		return m, nil
	case <-ctx.Done():
	}
	select {
	case m := <-responses: // the answer has arrived, so nothing is cancelled
		return m, nil
	default:
	}
	type cancelledParams struct {
		RequestID string `json:"requestId"`
		Reason    string `json:"reason"`
	}
	_ = sendMessage(encodeJSON(struct {
		JSONRPC string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Params  cancelledParams `json:"params"`
	}{"2.0", methodCancelled, cancelledParams{id, "it was decided elsewhere, or the call has ended"}}))
	return rpcMessage{}, ctx.Err()
}

func (a *clientRequests) addAnswerCallback(key string, onAnswer func(rpcMessage)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answerCallbacks == nil {
		a.answerCallbacks = map[string]func(rpcMessage){}
	}
	a.answerCallbacks[key] = onAnswer
}

func (a *clientRequests) forgetRequest(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.answerCallbacks, key)
}

func (a *clientRequests) handleAnswer(m rpcMessage) {
	key, ok := requestKey(m.ID)
	if !ok {
		return
	}
	a.mu.Lock()
	onAnswer := a.answerCallbacks[key]
	delete(a.answerCallbacks, key)
	a.mu.Unlock()
	if onAnswer != nil {
		onAnswer(m)
	}
}

// newAskFunc returns the function that sends requests to the client, or nil if the client cannot show forms.
func (s *session) newAskFunc(sendMessage Send) Ask {
	if sendMessage == nil || s.listener == nil || !supportsForms(s.listener.GetClientCapabilities().Elicitation) {
		return nil
	}
	return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
		m, err := s.requests.sendAndWait(ctx, sendMessage, method, params)
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
