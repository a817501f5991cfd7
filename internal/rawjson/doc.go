// Package rawjson takes JSON text apart, and puts it together, without decoding it.
//
// [Compact] checks a text and removes its blanks. The other functions read valid text:
// [Members] and [Elements] split it, [KindOf] names what a value is, [Unquote] decodes
// a string; [SkipValue], [SkipString] and [SkipSpace] find where a part ends, also in
// text that may be invalid. These functions read each byte once and copy nothing: a
// server with a hundred plugins reads all descriptions in the time in which
// encoding/json would read a few. [Marshal] and [Encode] write a value without escaping
// <, > and &.
//
// Package wire has a separate reader, because it imports nothing of opentabs and
// rejects objects that have a member twice.
//
// The package has no state. The functions of package rawjson may run in any goroutine.
package rawjson
