// Package extension embeds the sources of the browser extension and computes its ID.
// The server bundles the extension's sources at run time (internal/jsbuild).
package extension

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Source has the manifest, the TypeScript sources without tests, the panel's page, the
// icons and the vendored libraries.
//
// The patterns match each name.ts, but no name.test.ts, which would make the program
// larger: names that end in t.ts, st.ts and est.ts have separate patterns. A go:embed
// pattern that matches no file is a compile error, so only patterns with matching files
// are listed. TestEmbeddedSources checks that the go:embed patterns match every source
// file.
//
//go:embed manifest.json icons/*.png vendor
//go:embed src/*/*.html src/*/*.css src/*/*.tsx
//go:embed src/*[^t].ts src/*/*[^t].ts src/*/*/*[^t].ts src/*/*/*/*[^t].ts
//go:embed src/*[^s]t.ts src/*/*[^s]t.ts src/*/*/*[^s]t.ts src/*/*/*/*[^s]t.ts
//go:embed src/*/*[^e]st.ts src/*/*/*[^e]st.ts src/*/*[^t]est.ts
var Source embed.FS

// ID returns the extension's ID, which Chrome derives from the public key in the
// manifest. The extension's ID is the first 16 bytes of the public key's SHA-256, with
// each hex digit written as a letter from a to p.
func ID() string {
	text, err := Source.ReadFile("manifest.json")
	if err != nil { // reading manifest.json cannot fail, because the file is embedded
		panic("extension: " + err.Error())
	}
	id, err := idOf(text)
	if err != nil { // parsing manifest.json cannot fail, because a test parses the embedded file
		panic("extension: " + err.Error())
	}
	return id
}

func idOf(manifest []byte) (string, error) {
	var m struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return "", fmt.Errorf("read the manifest: %w", err)
	}
	der, err := base64.StdEncoding.DecodeString(m.Key)
	if err != nil {
		return "", fmt.Errorf("read the manifest's key: %w", err)
	}
	sum := sha256.Sum256(der)
	id := make([]byte, 0, 32)
	for _, b := range sum[:16] {
		id = append(id, 'a'+b>>4, 'a'+b&15)
	}
	return string(id), nil
}
