package plugin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
)

func TestAdapterReturnsLoadedCode(t *testing.T) {
	p := plugintest.Load(t, plugintest.Package{})
	code, err := p.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	if checksum := sha256.Sum256(code); hex.EncodeToString(checksum[:]) != p.Hash {
		t.Error("the SHA-256 of the adapter's code differs from the plugin's hash; want equal hashes")
	}
	editFile(t, p.Dir, adapterFile, func(s string) string { return s + "\nevil()" })
	_, err = p.Adapter()
	if err == nil || !strings.Contains(err.Error(), "changed on disk since it was added") || !strings.Contains(err.Error(), "run opentabs plugin install "+p.Dir+" again") {
		t.Errorf("error for an adapter that changed on disk = %v; want the command that reinstalls the plugin", err)
	}
	if err := os.Remove(filepath.Join(p.Dir, adapterFile)); err != nil {
		t.Fatal(err)
	}
	if _, err = p.Adapter(); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("error for a removed adapter file = %v; want an error that contains %q", err, "is missing")
	}
}

func TestAdapterMayContainHashMarker(t *testing.T) {
	// An adapter may contain text that looks like a hash statement, for example in a string literal.
	quotedMarker := "var s = '(function(){var o=(globalThis).__openTabs;a.__adapterHash=\"" + strings.Repeat("0", 64) + "\"';\n"
	plugintest.Load(t, plugintest.Package{Code: quotedMarker})
}

func TestAdapterSizeIsInCharacters(t *testing.T) {
	dir := plugintest.Package{}.Write(t)
	editFile(t, dir, adapterFile, func(string) string { return "/*" + strings.Repeat("ä", 5<<20-4) + "*/" })
	if _, err := plugin.Load(dir); err != nil {
		t.Errorf("Load of an adapter with 5,242,880 characters: error %v; want none", err)
	}
	editFile(t, dir, adapterFile, func(string) string { return strings.Repeat("😀", 5<<19+1) })
	if _, err := plugin.Load(dir); err == nil || !strings.Contains(err.Error(), "has 5242882 characters") {
		t.Errorf("error for an adapter with 5,242,882 UTF-16 units = %v; want an error that contains %q", err, "has 5242882 characters")
	}
}
