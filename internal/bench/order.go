package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// The type request is one line of JSON that the benchmark reads from stdin. Action is
// what to do, such as "calls", and all other fields are parameters of the action.
type request struct {
	Action string `json:"do"`
	// Target is the name of the server to measure. For the action "connect", Target is the
	// name under which the benchmark stores the server that URL, Token and IsTraced describe.
	Target string `json:"target"`
	URL    string `json:"url"`
	Token  string `json:"token"`
	// IsTraced is true if the server should return the timing of each hop of a call.
	IsTraced bool `json:"isTraced"`
	// Tool is the full name of the tool that the benchmark calls, and Args are the tool's
	// arguments.
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	// Calls is the total number of calls, and ConcurrentCalls is how many calls run at once.
	// CallIntervalMs is the time from one call's start to the next call's start, in
	// milliseconds; 0 means no pause.
	Calls           int     `json:"calls"`
	ConcurrentCalls int     `json:"inFlight"`
	CallIntervalMs  float64 `json:"everyMs"`
	// Command and Env are the command line and the extra environment variables of the
	// server that the action "start" runs. Port is the port on which this server listens.
	Command []string `json:"command"`
	Env     []string `json:"env"`
	Port    int      `json:"port"`
	// TokenFile is the path of the file with the server's token. If TokenFile is not
	// empty, the action "start" also measures how long the server takes to answer
	// tools/list.
	TokenFile string `json:"tokenFile"`
	// SettleTimeMs is how long the action "start" waits, in milliseconds, before it measures
	// the server's memory.
	SettleTimeMs float64 `json:"settleMs"`
}

// The type client maps the names of the measured servers, as benchmark requests use them,
// to the connections to these servers.
type client struct {
	targets map[string]*target
}

// Each benchmark request produces one line of output: {"ok": result} or {"failed": "error"}.
func serveRequests(inputReader io.Reader, outWriter io.Writer) error {
	c := client{targets: map[string]*target{}}
	lines := bufio.NewReader(inputReader)
	encoder := json.NewEncoder(outWriter)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		response := struct {
			Result    any    `json:"ok,omitempty"`
			ErrorText string `json:"failed,omitempty"`
		}{}
		if response.Result, err = c.handleRequest(line); err != nil {
			response.Result, response.ErrorText = nil, err.Error()
		}
		if err := encoder.Encode(response); err != nil {
			return err
		}
	}
}

func (c *client) handleRequest(line []byte) (any, error) {
	var o request
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, err
	}
	switch o.Action {
	case "start":
		return measureServerStart(o)
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
	return nil, fmt.Errorf("the action is %q: give connect, calls, stream, cancel or start", o.Action)
}
