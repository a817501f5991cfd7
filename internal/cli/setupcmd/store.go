package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"opentabs/internal/cli/paircmd"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/pairing"
)

func (b browserSteps) installFromStore(ctx context.Context, client *httpapi.Client, pages []config.StorePage) error {
	terminalOut := b.program.Out
	isOpened := b.questions != nil && b.openPage(ctx, pages[0].URL)
	terminalOut.PrintText(formatStoreSteps(pages, client.Port(), isOpened))
	if b.questions == nil {
		terminalOut.Notef("run the command that the side panel shows; then `opentabs status` shows the browser")
		return nil
	}
	for {
		pairingCode, err := b.questions.Ask(ctx, "The code in the side panel: ", false)
		if err != nil {
			return fmt.Errorf("read the code: %w; run `opentabs pair CODE` later", err)
		}
		code, err := pairing.ParseCode(strings.TrimPrefix(strings.TrimSpace(pairingCode), "opentabs pair "))
		if err != nil {
			terminalOut.Notef("%v; Ctrl-C ends setup, and `opentabs setup` continues later", err)
			continue
		}
		name, err := b.waitForPairing(ctx, client, code)
		if errors.Is(err, paircmd.ErrWrongCode) {
			terminalOut.Notef("this is not the code of your browser: compare it with the side panel, and type the code again")
			continue
		}
		if err != nil {
			return err
		}
		return b.reportConnection(ctx, client, name)
	}
}

func (b browserSteps) waitForPairing(ctx context.Context, client *httpapi.Client, code string) (string, error) {
	store := pairing.Open(b.home.PairingFile())
	id, err := store.Add(code)
	if err != nil {
		return "", err
	}
	b.program.Out.Notef("waiting for the browser to connect; Ctrl-C stops waiting, and `opentabs setup` continues later")
	name, err := paircmd.WaitForBrowser(ctx, client, code, browserTimeout, func() {
		b.program.Out.Notef("the extension does not reach the server yet: open the side panel of the extension, and enter the port %d there", client.Port())
	})
	if err == nil {
		return name, nil
	}
	if errors.Is(err, paircmd.ErrUnusedCode) {
		err = errNoBrowser
	}
	return "", errors.Join(err, store.Remove(id))
}

func formatStoreSteps(pages []config.StorePage, port int, isOpened bool) string {
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
