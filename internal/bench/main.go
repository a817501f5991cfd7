// Bench is the Go half of `make bench`: a client that measures servers, and baseline
// servers for comparison. The program bench is a tool for developers that users do not
// receive.
//
// The servers floor and instant print their port on the first line. The servers floor and
// instant exit when their stdin closes, so they also exit when their parent process ends.
//
// Usage:
//
//	bench client
//		Runs the requests on stdin, one JSON object per line (order.go).
//	bench floor
//		Runs the baseline server: a plain HTTP echo, and an echo through a page (floor.go).
//	bench instant -state DIR -token T
//		Runs the HTTP and MCP server of opentabs with a simulated browser (instant.go).
//	bench subscribers -port N -token T -n N
//		Connects clients that count the events of the route /events (subscribers.go).
//	bench smoke [-update]
//		Measures the rows of `make bench-smoke` in the root of the repository (smoke.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"

	"github.com/rs/zerolog"

	"opentabs/internal/httpapi"
	"opentabs/internal/memory"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	mode := ""
	if len(args) > 0 {
		mode, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("bench "+mode, flag.ContinueOnError)
	flags.SetOutput(stderr)
	stateDir := flags.String("state", "", "the state directory with the plugins for instant")
	token := flags.String("token", "", "the token that instant requires")
	profile := flags.String("profile", "", "a file for a CPU profile of a server")
	port := flags.Int("port", 0, "the port that a server listens on, 0 for a free one; or that subscribers connect to")
	n := flags.Int("n", 1, "how many subscribers there are")
	shouldUpdate := flags.Bool("update", false, "smoke stores the new values")
	readsNothing := flags.Bool("stuck", false, "subscribers read nothing")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	stopProfile, err := startProfile(*profile)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	switch mode {
	case "client":
		err = serveRequests(stdin, stdout)
	case "floor":
		linkDaemon()
		err = serveLoopback(&http.Server{Handler: newBaselineServer()}, *port, stdin, stdout)
	case "instant":
		var h http.Handler
		if h, err = newNoBrowserServer(*stateDir, *token); err == nil {
			go memory.LimitFreeMemory(context.Background()) // the command opentabs serve also calls LimitFreeMemory
			err = serveLoopback(httpapi.NewServer(h, zerolog.Nop()), *port, stdin, stdout)
		}
	case "subscribers":
		err = readEventStreams(*port, *token, *n, *readsNothing, stdin, stdout)
	case "smoke":
		err = runSmoke(context.Background(), stdout, *shouldUpdate)
	default:
		err = fmt.Errorf("the mode is %q: give client, floor, instant, subscribers or smoke", mode)
	}
	if err := errors.Join(err, stopProfile()); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func startProfile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

func serveLoopback(server *http.Server, port int, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, listener.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	serveErr := make(chan error, 1)
	go func() { serveErr <- server.Serve(listener) }()
	inputClosed := make(chan struct{})
	go func() {
		defer close(inputClosed)
		_, _ = io.Copy(io.Discard, stdin)
	}()
	select {
	case err := <-serveErr:
		return err
	case <-inputClosed:
		return server.Close()
	}
}
