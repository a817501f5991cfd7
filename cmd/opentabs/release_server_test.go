package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// runReleaseServer is a test program that serves a release of opentabs over HTTP. If the program has a third argument,
// the served archive does not match its published checksum.
func runReleaseServer() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serveRelease(ctx, os.Args[1], os.Args[2], len(os.Args) > 3); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveRelease(ctx context.Context, program, version string, isDamaged bool) error {
	archive, err := packProgram(program)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("opentabs_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	checksums := fmt.Sprintf("%x  opentabs_%[2]s_windows_amd64.zip\n%[1]x  %[3]s\n", sha256.Sum256(archive), version, name)
	if isDamaged {
		archive[len(archive)/2]++
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile("release-url", fmt.Appendf(nil, "http://%s/latest", l.Addr()), 0o600); err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/latest/checksums.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(checksums)) })
	routes.HandleFunc("/latest/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	server := &http.Server{Handler: routes}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func packProgram(program string) ([]byte, error) {
	fileContent, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	files := tar.NewWriter(zip)
	for _, file := range []struct {
		name    string
		content []byte
	}{{"README.md", []byte("# opentabs\n")}, {"opentabs", fileContent}} {
		if err := files.WriteHeader(&tar.Header{Name: file.name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(file.content))}); err != nil {
			return nil, err
		}
		if _, err := files.Write(file.content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(files.Close(), zip.Close())
	return archive.Bytes(), err
}
