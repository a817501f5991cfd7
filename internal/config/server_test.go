package config

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestWriteAndReadServerRecord(t *testing.T) {
	d := makeHome(t, "")
	if s, ok := d.ReadServer(); ok {
		t.Fatalf("ReadServer in an empty directory returned %v; want no server", s)
	}
	want := Server{PID: os.Getpid(), Port: 4000, Version: "1.2.3", Started: time.Unix(1700000000, 0).UTC()}
	if err := d.WriteServer(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := d.ReadServer(); !ok || got != want {
		t.Errorf("ReadServer returned %v, ok = %v; want the written record %v", got, ok, want)
	}
	if err := d.RemoveServer(want.PID + 1); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.ReadServer(); !ok {
		t.Error("RemoveServer removed the record of another process; want the record to stay")
	}
	if err := d.RemoveServer(want.PID); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.ReadServer(); ok {
		t.Error("the record exists after RemoveServer; want no record")
	}
	if err := d.RemoveServer(want.PID); err != nil {
		t.Errorf("second RemoveServer returned the error %v; want none", err)
	}
}

func TestDamagedServerRecordIsIgnored(t *testing.T) {
	for _, content := range []string{"", "{", `{"pid":0,"port":1}`, `{"pid":1}`, `[]`} {
		d := makeHome(t, "")
		if err := os.WriteFile(d.serverFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, ok := d.ReadServer(); ok {
			t.Errorf("ReadServer of the damaged record %q returned %v; want no server", content, s)
		}
	}
}

func TestServerStartsAreSerialized(t *testing.T) {
	d := makeHome(t, "")
	unlock, err := d.LockStart()
	if err != nil {
		t.Fatal(err)
	}
	secondLockTaken := make(chan struct{})
	go func() {
		defer close(secondLockTaken)
		unlock, err := d.LockStart()
		if err != nil {
			t.Error(err)
			return
		}
		unlock()
	}()
	if _, err := d.lockStart(time.Millisecond); err == nil || !strings.Contains(err.Error(), d.lockFile()+": end that process") {
		t.Errorf("error for a lock that another process keeps = %v; want the lock file and the advice to end that process", err)
	}
	select {
	case <-secondLockTaken:
		t.Error("LockStart succeeded while the lock was taken; want one owner at a time")
	default:
	}
	unlock()
	<-secondLockTaken
}
