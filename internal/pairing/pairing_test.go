package pairing

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"opentabs/wire"
)

const testCode = "7KQ2MXD9R4TB8WZ0HJ5N"

func TestParseCode(t *testing.T) {
	for pairingCode, want := range map[string]string{
		testCode:                   testCode,
		"7KQ2M-XD9R4-TB8WZ-0HJ5N":  testCode,
		" 7kq2m xd9r4 tb8wz ohj5n": testCode,
		"iL000000000000000000":     "11000000000000000000",
		"7KQ2M-XD9R4-TB8WZ-0HJ5":   "",
		"7KQ2M-XD9R4-TB8WZ-0HJ5U":  "",
		"":                         "",
	} {
		got, err := ParseCode(pairingCode)
		if got != want || (want == "") != errors.Is(err, errCode) {
			t.Errorf("ParseCode(%q) = %q, error %v; want %q", pairingCode, got, err, want)
		}
	}
}

func TestPairingReplacesCodeKey(t *testing.T) {
	store := Open(filepath.Join(t.TempDir(), "browsers.json"))
	firstKey := wire.PairingKey(testCode)
	checkKey := func(stepName, key string, isValid bool) {
		t.Helper()
		if got, err := store.Key(wire.KeyID(key)); err != nil || (got == key) != isValid || !isValid && got != "" {
			t.Errorf("%s: Key returned %q, error %v; want the key %q if it is valid: %v", stepName, got, err, key, isValid)
		}
	}
	confirmKey := func(stepName, key string) string {
		t.Helper()
		newKey, err := store.Confirm(wire.KeyID(key), "Work")
		if err != nil {
			t.Fatalf("%s: Confirm returned the error %v, want none", stepName, err)
		}
		return newKey
	}
	checkKey("before the code was added", firstKey, false)
	if _, err := store.Confirm(wire.KeyID(firstKey), "Work"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Confirm of an unknown key returned %v, want ErrUnknown", err)
	}
	id, err := store.Add(testCode)
	if secondID, secondErr := store.Add(testCode); err != nil || secondErr != nil || secondID != id {
		t.Fatalf("Add returned %q, error %v, then %q, %v; want the same ID", id, err, secondID, secondErr)
	}
	checkKey("after the code was added", firstKey, true)

	newKey := confirmKey("the first hello", firstKey)
	if secondResult := confirmKey("a hello of a browser that did not store its new key", firstKey); secondResult != newKey || newKey == "" {
		t.Errorf("the new keys for one pairing code are %q and %q; want the same key", newKey, secondResult)
	}
	if got := confirmKey("the first hello with the new key", newKey); got != "" {
		t.Errorf("the new key was replaced by %q; want no further key", got)
	}
	checkKey("after the new key was used", newKey, true)
	checkKey("after the new key was used", firstKey, false)
	if browsers, err := store.List(); err != nil || len(browsers) != 1 || browsers[0].Name != "Work" || !browsers[0].IsConfirmed {
		t.Errorf("List returned %+v, error %v; want the confirmed browser Work", browsers, err)
	}
	if err := store.Remove(id); err != nil {
		t.Fatalf("Remove of a paired browser returned %v, want no error", err)
	}
	if err := store.Remove(id); !errors.Is(err, ErrUnknown) {
		t.Errorf("the second Remove of a browser returned %v, want ErrUnknown", err)
	}
	checkKey("after the removal", newKey, false)
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "browsers.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := Open(path)
	if _, err := store.Key("k"); err == nil {
		t.Errorf("Key in a damaged file returned the error %v, want an error about the file", err)
	}
	if _, err := store.Add(testCode); err == nil {
		t.Error("Add to a damaged file returned no error, want an error")
	}
	if fileContent, err := os.ReadFile(path); err != nil || string(fileContent) != "{" {
		t.Errorf("content of the damaged file = %q, error %v; want the content unchanged", fileContent, err)
	}
}
