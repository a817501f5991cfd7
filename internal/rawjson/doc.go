// Package rawjson splits and joins JSON text without decoding its values.
//
// [Compact] validates JSON text and removes its white space. [Members] and [Elements] read each byte once and copy no
// values, so that a server with a hundred plugins starts quickly. [Marshal] and [Encode] encode a Go value without
// escaping <, > and &.
//
// Package wire has its own JSON reader: package wire imports no package of opentabs, and its reader rejects objects
// with duplicate keys.
//
// The functions of package rawjson are safe for concurrent use.
package rawjson
