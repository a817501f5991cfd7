package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"opentabs/internal/npm/npmtest"
)

// runNPMRegistry is a test program that serves the packages in a folder as an npm registry. The program's second
// argument is the token.
func runNPMRegistry() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	registry := &npmtest.Registry{Folder: os.Args[1]}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		lines := fmt.Sprintf("registry=http://%s/\n", l.Addr())
		if len(os.Args) > 2 {
			registry.Token = os.Args[2]
			lines += fmt.Sprintf("//%s/:_authToken=${NPM_TOKEN}\n", l.Addr())
		}
		err = os.WriteFile(".npmrc", []byte(lines), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &http.Server{Handler: registry}
	go func() { _ = s.Serve(l) }()
	<-ctx.Done()
	_ = s.Close()
}
