package jsbuild

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// lockScriptTemplate is the JavaScript statement with which each adapter ends. lockScriptTemplate
// stores the hash of the adapter's other code and freezes the adapter. The loader of the
// original OpenTabs searches an adapter's text for the first words of lockScriptTemplate and for
// the assignment to __adapterHash.
const lockScriptTemplate = `(function(){var o=(globalThis).__openTabs;var s=o.adapters;var a=s["NAME"];` +
	`a.__adapterHash="HASH";` +
	`a.tools.forEach(function(t){Object.freeze(t);});Object.freeze(a.tools);Object.freeze(a);` +
	`Object.defineProperty(s,"NAME",{value:a,writable:false,enumerable:true,configurable:false});` +
	`Object.defineProperty(o,"adapters",{value:s,writable:false,enumerable:true,configurable:false});})();`

func lockAdapter(bundledCode []byte, name string) (code []byte, hash string) {
	checksum := sha256.Sum256(bundledCode)
	hash = hex.EncodeToString(checksum[:])
	lockScript := strings.NewReplacer("NAME", name, "HASH", hash).Replace(lockScriptTemplate)
	return append(append(append([]byte{}, bundledCode...), lockScript...), '\n'), hash
}
