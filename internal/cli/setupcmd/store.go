package setupcmd

import (
	"context"
	"fmt"
	"strings"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/pairing"
)

// installFromStore connects a browser whose extension comes from a store. The user types
// the code that the side panel shows.
func (b browserSteps) installFromStore(ctx context.Context, client *httpapi.Client, pages []config.StorePage) error {
	out := b.program.Out
	isOpened := b.questions != nil && b.openPage(ctx, pages[0].URL)
	out.PrintText(storeSteps(pages, client.Port(), isOpened))
	if b.questions == nil {
		out.Notef("run the command that the side panel shows; then `opentabs status` shows the browser")
		return nil
	}
	for {
		answer, err := b.questions.Ask(ctx, "The code in the side panel: ", false)
		if err != nil {
			return fmt.Errorf("read the code: %w; run `opentabs pair CODE` later", err)
		}
		code, err := pairing.ParseCode(strings.TrimPrefix(strings.TrimSpace(answer), "opentabs pair "))
		if err != nil {
			out.Notef("%v; Ctrl-C ends setup, and `opentabs setup` continues later", err)
			continue
		}
		if _, err := pairing.Open(b.home.PairingFile()).Add(code); err != nil {
			return err
		}
		return b.finishWhenConnected(ctx, client)
	}
}

// storeSteps returns the steps by which the user installs the extension from a store and
// finds the code.
func storeSteps(pages []config.StorePage, port int, isOpened bool) string {
	var b strings.Builder
	b.WriteString("In your browser:\n  1. Install the extension")
	if isOpened {
		b.WriteString(" from the page that has just opened")
	}
	b.WriteString(":\n")
	for _, page := range pages {
		fmt.Fprintf(&b, "       %s\n       (%s)\n", page.URL, page.Store)
	}
	b.WriteString("  2. Press the opentabs button in the toolbar, then \"Open panel\". The\n     side panel shows a code.\n")
	fmt.Fprintf(&b, "     If the panel asks for the port of the server, enter %d.", port)
	return b.String()
}
