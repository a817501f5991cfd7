package home

import (
	"errors"
	"os"
	"strings"
	"testing"

	"opentabs/internal/audit"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/usererr"
)

// TestClientChangesAreAudited checks that adding and removing a client's token adds records to the audit
// log.
func TestClientChangesAreAudited(t *testing.T) {
	h := New(config.Dirs{State: t.TempDir()}, config.Settings{}, os.Getenv, func(warning string) { t.Log(warning) })
	token, err := h.AddClient("laptop")
	if err != nil || token == "" {
		t.Fatalf("AddClient returned the token %q, error %v; want a token", token, err)
	}
	if clients, err := clienttoken.Open(h.ClientsFile()).List(); err != nil || len(clients) != 1 || clients[0].Name != "laptop" {
		t.Errorf("stored clients = %+v, error %v; want only laptop", clients, err)
	}
	if err := errors.Join(h.RemoveClient("laptop"), h.ReloadClients(t.Context())); err != nil {
		t.Error(err)
	}
	var userErr *usererr.Error
	if err := h.RemoveClient("laptop"); !errors.As(err, &userErr) {
		t.Errorf("second RemoveClient returned the error %v; want an error for the user", err)
	}
	auditEntries, _, err := audit.Read(h.State, 0, func(audit.Record) bool { return true })
	var changes []string
	for _, e := range auditEntries {
		changes = append(changes, e.Record.Client+" "+e.Record.New+" by "+e.Record.By)
	}
	if err != nil || strings.Join(changes, "|") != "laptop added by the command line|laptop removed by the command line" {
		t.Errorf("changes in the audit log = %q, error %v; want that laptop was added and removed", changes, err)
	}
}
