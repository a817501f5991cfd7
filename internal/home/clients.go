package home

import (
	"context"
	"errors"
	"fmt"

	"opentabs/internal/audit"
	"opentabs/internal/clienttoken"
	"opentabs/internal/httpapi"
	"opentabs/internal/usererr"
)

// AddClient creates a token for an MCP client, and adds a record to the audit log.
func (h *Home) AddClient(name string) (token string, err error) {
	token, err = clienttoken.Open(h.ClientsFile()).Add(name)
	if err == nil {
		h.recordClient(name, "added")
	}
	return token, err
}

// RemoveClient removes the token of an MCP client, and adds a record to the audit log.
func (h *Home) RemoveClient(name string) error {
	err := clienttoken.Open(h.ClientsFile()).Remove(name)
	switch {
	case errors.Is(err, clienttoken.ErrUnknown):
		return usererr.Errorf("there is no client %s: list them with `opentabs client list`", name)
	case err == nil:
		h.recordClient(name, "removed")
	}
	return err
}

func (h *Home) recordClient(name, change string) {
	r := audit.Record{Kind: audit.KindClient, New: change, By: httpapi.CommandLine}
	r.Client = name
	h.writeAuditRecord(r)
}

// ReloadClients makes a running daemon read the tokens of MCP clients again. If no daemon
// runs, ReloadClients does nothing.
func (h *Home) ReloadClients(ctx context.Context) error {
	client, err := h.runningClient(ctx)
	if err == nil && client != nil {
		err = client.ReloadClients(ctx)
	}
	if err != nil {
		return fmt.Errorf("the change is made, but the running server did not confirm it (it checks for changes every %s): %w", clienttoken.WatchInterval, err)
	}
	return nil
}
