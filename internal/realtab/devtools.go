package realtab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// maxMessageBytes is the maximum length of a message of the browser. A longer message
// ends the connection.
const maxMessageBytes = 16 << 20

// errGone is the error of commands after the browser has exited.
var errGone = errors.New("the browser has exited")

// devtools is a connection to a browser's DevTools protocol. It is safe for
// concurrent use.
type devtools struct {
	conn *websocket.Conn
	gone chan struct{} // closed by read, when the connection has ended

	mu      sync.Mutex              // guards all below
	serial  int                     // number of the last command
	waiting map[int]chan devMessage // buffered, for the answer to each command
}

// devCommand is a command for the browser, or for a tab of it by its session.
type devCommand struct {
	ID      int    `json:"id"`
	Session string `json:"sessionId,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// devMessage is a message of the browser: an answer, or an event, whose ID is 0.
type devMessage struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// dialDevtools connects to the DevTools address that the browser printed.
func dialDevtools(ctx context.Context, url string) (*devtools, error) {
	conn, resp, err := websocket.Dial(ctx, url, nil)
	if resp != nil && resp.Body != nil {
		resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("control the browser: %w", err)
	}
	conn.SetReadLimit(maxMessageBytes)
	d := &devtools{conn: conn, gone: make(chan struct{}), waiting: map[int]chan devMessage{}}
	go d.read()
	return d, nil
}

// read receives the browser's messages until the connection ends.
func (d *devtools) read() {
	defer close(d.gone)
	for {
		_, text, err := d.conn.Read(context.Background()) // ends with the connection
		if err != nil {
			return
		}
		var message devMessage
		if json.Unmarshal(text, &message) != nil {
			continue
		}
		d.mu.Lock()
		answer := d.waiting[message.ID]
		delete(d.waiting, message.ID)
		d.mu.Unlock()
		if answer != nil {
			answer <- message
		}
	}
}

// do runs a command and decodes its result into result, unless that is nil. session
// is the session of a tab, or empty for the browser.
func (d *devtools) do(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan devMessage, 1)
	d.mu.Lock()
	d.serial++
	id := d.serial
	d.waiting[id] = answer
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting, id)
	}()
	text, err := json.Marshal(devCommand{id, session, method, params})
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	if err := d.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("control the browser (%s): %w", method, err)
	}
	select {
	case message := <-answer:
		if message.Error != nil {
			return fmt.Errorf("the browser rejected %s: %s", method, message.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(message.Result, result)
	case <-d.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the connection.
func (d *devtools) close() {
	_ = d.conn.CloseNow()
	<-d.gone
}
