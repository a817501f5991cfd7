package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// request is one line of JSON that the benchmark reads from stdin. Action selects what
// to do, and all other fields are parameters of the action.
type request struct {
	Action string `json:"do"`
	// Target is the name of a target, which is a server to measure. The action
	// "connect" creates the target from URL, Token and IsTraced.
	Target string `json:"target"`
	URL    string `json:"url"`
	Token  string `json:"token"`
	// IsTraced requests the hops of each call of the target.
	IsTraced bool `json:"isTraced"`
	// Tool and Args are the tool to call and its arguments.
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	// Calls is the total number of calls, and InFlight is how many calls run at a time.
	// EveryMs is the time between two calls in milliseconds, if not 0.
	Calls    int     `json:"calls"`
	InFlight int     `json:"inFlight"`
	EveryMs  float64 `json:"everyMs"`
	// Command and Env describe the process for the action "start", and Port is the port
	// on which the process listens.
	Command []string `json:"command"`
	Env     []string `json:"env"`
	Port    int      `json:"port"`
	// TokenFile is the file with the server's token. If TokenFile is not empty, the
	// action "start" lists the server's tools.
	TokenFile string `json:"tokenFile"`
	// SettleMs is the time between the start of the process and the measurement of its
	// memory, in milliseconds.
	SettleMs float64 `json:"settleMs"`
}

// client stores the targets of benchmark requests by name.
type client struct {
	targets map[string]*target
}

// serveRequests runs the requests from in one by one. For each request, serveRequests
// writes one line: {"ok": result} or {"failed": "error"}.
func serveRequests(in io.Reader, out io.Writer) error {
	c := client{targets: map[string]*target{}}
	lines := bufio.NewReader(in)
	write := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		response := struct {
			Result any    `json:"ok,omitempty"`
			Failed string `json:"failed,omitempty"`
		}{}
		if response.Result, err = c.handleRequest(line); err != nil {
			response.Result, response.Failed = nil, err.Error()
		}
		if err := write.Encode(response); err != nil {
			return err
		}
	}
}

// handleRequest runs the action that a JSON line names, and returns the measurement.
func (c *client) handleRequest(line []byte) (any, error) {
	var o request
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, err
	}
	switch o.Action {
	case "start":
		return measureStart(o)
	case "connect":
		t, err := connectTarget(o.URL, o.Token)
		if err == nil && o.IsTraced {
			t.traceCalls()
		}
		c.targets[o.Target] = t
		return true, err
	}
	t := c.targets[o.Target]
	if t == nil {
		return nil, fmt.Errorf("there is no target %q: connect first", o.Target)
	}
	switch o.Action {
	case "calls":
		return measureCalls(t, o)
	case "stream":
		return measureStream(t, o)
	case "cancel":
		return measureCancel(t, o)
	}
	return nil, fmt.Errorf("%q is no order: give connect, calls, stream, cancel or start", o.Action)
}
