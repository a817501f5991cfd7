package toolpins

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func openPins(t *testing.T, dir string) *PinnedTools {
	t.Helper()
	return Open(dir, func(warning string) { t.Log(warning) }, zerolog.Nop())
}

func TestPinAndUnpin(t *testing.T) {
	dir := t.TempDir()
	p := openPins(t, dir)
	if len(p.Names()) != 0 {
		t.Errorf("pins of a new installation = %q, want none", p.Names())
	}
	addedPins, err := p.Pin([]string{"wiki", "mail__send", "wiki"})
	if err != nil || strings.Join(addedPins, " ") != "wiki mail__send" || strings.Join(p.Names(), " ") != "mail__send wiki" {
		t.Errorf("Pin added %q, error %v, pins %q; want wiki and mail__send", addedPins, err, p.Names())
	}
	if addedPins, err := p.Pin([]string{"wiki"}); err != nil || len(addedPins) != 0 {
		t.Errorf("Pin of a pinned plugin added %q, error %v; want nothing", addedPins, err)
	}
	secondStore := openPins(t, dir)
	removedPins, err := secondStore.Unpin([]string{"mail__send", "nothing"})
	if err != nil || strings.Join(removedPins, " ") != "mail__send" || strings.Join(secondStore.Names(), " ") != "wiki" {
		t.Errorf("Unpin removed %q, error %v, remaining pins %q; want mail__send removed and wiki kept", removedPins, err, secondStore.Names())
	}
	if removedPins, err := secondStore.Unpin([]string{"wiki"}); err != nil || len(removedPins) != 1 || len(secondStore.Names()) != 0 {
		t.Errorf("Unpin removed %q, error %v, remaining pins %q; want wiki removed and no pins", removedPins, err, secondStore.Names())
	}
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		p := openPins(t, dir)
		var changes atomic.Int32
		p.OnChange(func() { changes.Add(1) })
		go p.Watch(t.Context())
		time.Sleep(2 * time.Second)
		if _, err := openPins(t, dir).Pin([]string{"wiki"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if changes.Load() != 1 || strings.Join(p.Names(), " ") != "wiki" {
			t.Errorf("Watch reported %d changes, pins %q; want 1 change and wiki", changes.Load(), p.Names())
		}
	})
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	for _, fileContent := range []string{`{"version":1,"pinned":`, `{"version":1,"pinned":"wiki"}`, `{"version":1,"pinned":[1]}`, `[]`} {
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
		p := openPins(t, dir)
		if len(p.Names()) != 0 {
			t.Errorf("pins in the damaged file %s = %q, want none", fileContent, p.Names())
		}
		if err := p.Repair(); err != nil {
			t.Errorf("Repair of the file %s returned %v, want no error", fileContent, err)
		}
		if _, err := p.Pin([]string{"wiki"}); err != nil || strings.Join(p.Names(), " ") != "wiki" {
			t.Errorf("Pin after the repair of the file %s returned %v, pins %q; want wiki", fileContent, err, p.Names())
		}
	}
}
