package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestServerRecord(t *testing.T) {
	d := makeHome(t, "")
	if s, ok := d.ReadServer(); ok {
		t.Fatalf("found the server %v in an empty directory", s)
	}
	want := Server{PID: os.Getpid(), Port: 4000, Version: "1.2.3", Started: time.Unix(1700000000, 0).UTC()}
	if err := d.WriteServer(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := d.ReadServer(); !ok || got != want {
		t.Errorf("got %v, %v", got, ok)
	}
	if err := d.RemoveServer(want.PID + 1); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.ReadServer(); !ok {
		t.Error("removed the record of another process")
	}
	if err := d.RemoveServer(want.PID); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.ReadServer(); ok {
		t.Error("the record is still there")
	}
	if err := d.RemoveServer(want.PID); err != nil {
		t.Errorf("the second removal failed: %v", err)
	}
}

func TestServerRecordDamaged(t *testing.T) {
	for _, content := range []string{"", "{", `{"pid":0,"port":1}`, `{"pid":1}`, `[]`} {
		d := makeHome(t, "")
		if err := os.WriteFile(d.serverFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, ok := d.ReadServer(); ok {
			t.Errorf("the damaged record %q was read as the server %v", content, s)
		}
	}
}

func TestOneServerStartsAtATime(t *testing.T) {
	d := makeHome(t, "")
	unlock, err := d.LockStart()
	if err != nil {
		t.Fatal(err)
	}
	secondLocked := make(chan struct{})
	go func() {
		defer close(secondLocked)
		unlock, err := d.LockStart()
		if err != nil {
			t.Error(err)
			return
		}
		unlock()
	}()
	if _, err := d.lockStart(time.Millisecond); err == nil || !strings.Contains(err.Error(), d.lockFile()+": end that process") {
		t.Errorf("a lock that is never freed: %v", err)
	}
	select {
	case <-secondLocked:
		t.Error("two processes have the lock")
	default:
	}
	unlock()
	<-secondLocked
}
