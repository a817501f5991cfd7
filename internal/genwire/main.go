// Genwire writes the TypeScript code for package wire: constants, unions, interfaces,
// the tables of requests and notifications, and shapes. The file wire/frame.ts checks
// received frames against the shapes.
//
//	go run ./internal/genwire -in wire -out wire/wire.gen.ts
//
// Genwire rejects declarations that have no exact form in TypeScript, and names the
// declaration in the error. check.go lists the rejected forms, with reasons.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is main as a function that returns the exit code.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("genwire", flag.ContinueOnError)
	flags.SetOutput(stderr)
	in := flags.String("in", "wire", "package directory to read")
	out := flags.String("out", "wire/wire.gen.ts", "file to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	src, err := generateTS(os.DirFS(*in))
	if err == nil {
		err = os.WriteFile(*out, src, 0o644)
	}
	if err != nil {
		fmt.Fprintf(stderr, "genwire: %v\n", err)
		return 1
	}
	return 0
}
