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

// Source contains the manifest, the TypeScript sources without tests, the HTML page of
// the side panel, the icons and the vendored libraries.
//
// The patterns match each name.ts, but no name.test.ts, because tests would make the
// program larger. Go patterns cannot exclude a suffix, so names that end in t.ts, st.ts
// and est.ts have separate patterns. A go:embed pattern that matches no file is a
// compile error, so only patterns with matching files are listed. TestEmbeddedSources
// checks that the go:embed patterns match every source file.
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
	fileContent, err := Source.ReadFile("manifest.json")
	if err != nil { // cannot fail: manifest.json is embedded
		panic("extension: " + err.Error())
	}
	id, err := extensionID(fileContent)
	if err != nil { // cannot fail: a test parses the embedded manifest.json
		panic("extension: " + err.Error())
	}
	return id
}

func extensionID(manifest []byte) (string, error) {
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
	checksum := sha256.Sum256(der)
	id := make([]byte, 0, 32)
	for _, b := range checksum[:16] {
		id = append(id, 'a'+b>>4, 'a'+b&15)
	}
	return string(id), nil
}
