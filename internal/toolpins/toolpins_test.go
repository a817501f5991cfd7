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

func openPins(t *testing.T, dir string) *Pins {
	t.Helper()
	return Open(dir, func(warning string) { t.Log(warning) }, zerolog.Nop())
}

func TestPins(t *testing.T) {
	dir := t.TempDir()
	p := openPins(t, dir)
	if len(p.Names()) != 0 {
		t.Errorf("a new installation has the pins %q", p.Names())
	}
	addedPins, err := p.Pin([]string{"wiki", "mail__send", "wiki"})
	if err != nil || strings.Join(addedPins, " ") != "wiki mail__send" || strings.Join(p.Names(), " ") != "mail__send wiki" {
		t.Errorf("added %q, %v; pins %q", addedPins, err, p.Names())
	}
	if addedPins, err := p.Pin([]string{"wiki"}); err != nil || len(addedPins) != 0 {
		t.Errorf("pinned again: %q, %v", addedPins, err)
	}
	otherPins := openPins(t, dir)
	removedPins, err := otherPins.Unpin([]string{"mail__send", "nothing"})
	if err != nil || strings.Join(removedPins, " ") != "mail__send" || strings.Join(otherPins.Names(), " ") != "wiki" {
		t.Errorf("removed %q, %v; pins %q", removedPins, err, otherPins.Names())
	}
	if removedPins, err := otherPins.Unpin([]string{"wiki"}); err != nil || len(removedPins) != 1 || len(otherPins.Names()) != 0 {
		t.Errorf("removed %q, %v; pins %q", removedPins, err, otherPins.Names())
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
			t.Errorf("%d changes, pins %q", changes.Load(), p.Names())
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
			t.Errorf("%s: pins %q", fileContent, p.Names())
		}
		if err := p.Repair(); err != nil {
			t.Errorf("%s: %v", fileContent, err)
		}
		if _, err := p.Pin([]string{"wiki"}); err != nil || strings.Join(p.Names(), " ") != "wiki" {
			t.Errorf("%s: %v, pins %q", fileContent, err, p.Names())
		}
	}
}
