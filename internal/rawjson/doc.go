// Package rawjson takes JSON text apart, and puts it together, without decoding it.
//
// [Compact] checks a text and removes its blanks. The other functions read such compact
// text: [Members] and [Elements] split it, [KindOf] names what a value is, [Unquote]
// decodes a string. They read each byte once and copy nothing: a server with a hundred
// plugins reads all descriptions in the time in which encoding/json would read a few.
//
// The package has no state. Its functions may run in any goroutine.
package rawjson
