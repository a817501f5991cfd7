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

// TestClients checks that adding and removing a client's token adds records to the audit
// log.
func TestClients(t *testing.T) {
	h := New(config.Dirs{State: t.TempDir()}, config.Settings{}, os.Getenv, func(warning string) { t.Log(warning) })
	token, err := h.AddClient("laptop")
	if err != nil || token == "" {
		t.Fatalf("%q, %v", token, err)
	}
	if clients, err := clienttoken.Open(h.ClientsFile()).List(); err != nil || len(clients) != 1 || clients[0].Name != "laptop" {
		t.Errorf("%+v, %v", clients, err)
	}
	if err := errors.Join(h.RemoveClient("laptop"), h.ReloadClients(t.Context())); err != nil {
		t.Error(err)
	}
	var userErr *usererr.Error
	if err := h.RemoveClient("laptop"); !errors.As(err, &userErr) {
		t.Errorf("removed twice: %v", err)
	}
	auditEntries, _, err := audit.Read(h.State, 0, func(audit.Record) bool { return true })
	var changes []string
	for _, e := range auditEntries {
		changes = append(changes, e.Record.Client+" "+e.Record.New+" by "+e.Record.By)
	}
	if err != nil || strings.Join(changes, "|") != "laptop added by the command line|laptop removed by the command line" {
		t.Errorf("%q, %v", changes, err)
	}
}
