// Package rawjson takes JSON text apart, and puts it together, without decoding it.
//
// [Compact] checks a text and removes its blanks. The other functions of this package
// read valid text: [Members] and [Elements] split it, [KindOf] names what a value is,
// [Unquote] decodes a string; [SkipValue], [SkipString] and [SkipSpace] find where a
// part ends, also in text that may be invalid. The splitting functions read each byte
// once and copy nothing, so that a server with a hundred plugins starts quickly.
// [Marshal] and [Encode] write a value without escaping <, > and &.
//
// Package wire has a separate reader, because it imports nothing of opentabs and
// rejects objects that have a member twice.
//
// The package has no state. The functions of package rawjson may run in any goroutine.
package rawjson
