// Command opentabs lets AI agents call functions in the web pages where the user is
// logged in. Run `opentabs help` for a list of the commands.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
