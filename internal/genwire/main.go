// Genwire generates TypeScript code from the Go package wire: constants, unions, interfaces, and tables of requests and
// notifications. The generated code also contains the fields of all interfaces as a value, against which wire/frame.ts
// checks received message frames.
//
// Genwire rejects declarations that have no exact equivalent in TypeScript, and names the declaration in the error.
//
// To generate the code, run:
//
//	go run ./internal/genwire -in wire -out wire/wire.gen.ts
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("genwire", flag.ContinueOnError)
	flags.SetOutput(stderr)
	in := flags.String("in", "wire", "package directory to read")
	outPath := flags.String("out", "wire/wire.gen.ts", "file to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	sourceCode, err := generateTS(os.DirFS(*in))
	if err == nil {
		err = os.WriteFile(*outPath, sourceCode, 0o644)
	}
	if err != nil {
		fmt.Fprintf(stderr, "genwire: %v\n", err)
		return 1
	}
	return 0
}
