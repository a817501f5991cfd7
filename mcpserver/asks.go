package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// asks holds the requests that the server has made of the client of one session
// and that wait for its answer. It is safe for concurrent use. Clients of
// protocol versions from 2026-07-28 on are asked in another way: see held.go.
type asks struct {
	mu      sync.Mutex               // guards waiting
	waiting map[string]func(message) // by the key of the request's id; each takes one answer
}

// do makes a request of the client and waits for its answer. send writes to the
// client. When ctx ends first, the client is told that the request is void, and
// ctx's error is returned. It returns send's error if the request could not be
// sent.
func (a *asks) do(ctx context.Context, send notify, method string, params any) (message, error) {
	if err := ctx.Err(); err != nil {
		return message{}, err
	}
	// Nobody can guess the id, and none is used twice, even after a restart: a
	// late answer to one request is never taken for that to another.
	id := "opentabs-" + strings.ToLower(rand.Text())
	key, answered := "s"+id, make(chan message, 1)
	a.expect(key, func(m message) { answered <- m }) // it has room for the one answer
	defer a.forget(key)
	if err := send(encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})); err != nil {
		return message{}, err
	}
	select {
	case m := <-answered:
		return m, nil
	case <-ctx.Done():
	}
	select {
	case m := <-answered: // there is nothing to take back
		return m, nil
	default:
	}
	type cancelled struct {
		RequestID string `json:"requestId"`
		Reason    string `json:"reason"`
	}
	_ = send(encode(struct {
		JSONRPC string    `json:"jsonrpc"`
		Method  string    `json:"method"`
		Params  cancelled `json:"params"`
	}{"2.0", methodCancelled, cancelled{id, "it has been decided elsewhere, or the call has ended"}}))
	return message{}, ctx.Err()
}

// expect has take called once, with the answer to the request with this key.
func (a *asks) expect(key string, take func(message)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[string]func(message){}
	}
	a.waiting[key] = take
}

// forget drops the answer to the request with this key.
func (a *asks) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, key)
}

// answered takes an answer of the client. One that nobody waits for (any more)
// is dropped.
func (a *asks) answered(m message) {
	key, ok := requestKey(m.ID)
	if !ok {
		return
	}
	a.mu.Lock()
	take := a.waiting[key]
	delete(a.waiting, key)
	a.mu.Unlock()
	if take != nil {
		take(m)
	}
}

// elicitor returns what shows forms to the client's person, if it declared that
// it can. send writes to the client.
func (s *session) elicitor(send notify) elicitor {
	if send == nil || s.listener == nil || !formCapability(s.listener.GetClientCapabilities().Elicitation) {
		return nil
	}
	return func(ctx context.Context, form elicitation) (json.RawMessage, error) {
		m, err := s.asks.do(ctx, send, methodElicit, form)
		if err == nil && m.Result == nil {
			err = fmt.Errorf("it answered with an error: %.300s", m.Error)
		}
		return m.Result, err
	}
}

// encode makes JSON of what is made here.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return b
}
