package realtab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// maxMessageBytes is how long a message of the browser may be; those that are
// longer end the connection.
const maxMessageBytes = 16 << 20

// errGone says that the browser has ended.
var errGone = errors.New("the browser has ended")

// devtools is a connection to a browser's DevTools protocol. It is safe for
// concurrent use.
type devtools struct {
	conn *websocket.Conn
	gone chan struct{} // closed by read, when the connection has ended

	mu      sync.Mutex           // guards those below
	serial  int                  // of the last command
	waiting map[int]chan devSaid // each with room for its answer
}

// devCommand is a command for the browser, or for a tab of it by its session.
type devCommand struct {
	ID      int    `json:"id"`
	Session string `json:"sessionId,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// devSaid is what the browser says: an answer, or an event, whose ID is 0.
type devSaid struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// dialDevtools connects to the address that the browser has printed.
func dialDevtools(ctx context.Context, url string) (*devtools, error) {
	conn, resp, err := websocket.Dial(ctx, url, nil)
	if resp != nil && resp.Body != nil {
		resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("steer the browser: %w", err)
	}
	conn.SetReadLimit(maxMessageBytes)
	d := &devtools{conn: conn, gone: make(chan struct{}), waiting: map[int]chan devSaid{}}
	go d.read()
	return d, nil
}

// read takes what the browser says until the connection ends.
func (d *devtools) read() {
	defer close(d.gone)
	for {
		_, text, err := d.conn.Read(context.Background()) // ends with the connection
		if err != nil {
			return
		}
		var said devSaid
		if json.Unmarshal(text, &said) != nil {
			continue
		}
		d.mu.Lock()
		answer := d.waiting[said.ID]
		delete(d.waiting, said.ID)
		d.mu.Unlock()
		if answer != nil {
			answer <- said
		}
	}
}

// do runs a command and decodes its result, unless that is nil. session is that
// of a tab, empty for the browser.
func (d *devtools) do(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan devSaid, 1)
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
		return fmt.Errorf("steer the browser (%s): %w", method, err)
	}
	select {
	case said := <-answer:
		if said.Error != nil {
			return fmt.Errorf("the browser refused %s: %s", method, said.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(said.Result, result)
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
