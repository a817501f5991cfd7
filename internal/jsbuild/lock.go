package jsbuild

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// lockSnippet is the statement that ends an adapter: it gives the adapter the
// hash of the code before it and locks it against changes. Its first words
// are where a reader of the file cuts it to check the hash, and the
// assignment of the hash is what it looks for (plugin-format.md 1.7).
const lockSnippet = `(function(){var o=(globalThis).__openTabs;var s=o.adapters;var a=s["NAME"];` +
	`a.__adapterHash="HASH";` +
	`a.tools.forEach(function(t){Object.freeze(t);});Object.freeze(a.tools);Object.freeze(a);` +
	`Object.defineProperty(s,"NAME",{value:a,writable:false,enumerable:true,configurable:false});` +
	`Object.defineProperty(o,"adapters",{value:s,writable:false,enumerable:true,configurable:false});})();`

// lock appends the snippet to an adapter's bundle and returns the hash of the
// bundle, SHA-256 in hex. Name is a plugin's name, so it needs no quoting.
func lock(bundle []byte, name string) (code []byte, hash string) {
	sum := sha256.Sum256(bundle)
	hash = hex.EncodeToString(sum[:])
	snippet := strings.NewReplacer("NAME", name, "HASH", hash).Replace(lockSnippet)
	return append(append(append([]byte{}, bundle...), snippet...), '\n'), hash
}
