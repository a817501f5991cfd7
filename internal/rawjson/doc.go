// Package rawjson takes JSON text apart, and puts it together, without decoding it.
//
// [Compact] checks a text and removes its blanks. [Members] and [Elements] split valid
// text, [KindOf] returns the kind of a value, and [Unquote] decodes a string.
// [SkipValue], [SkipString] and [SkipSpace] find where a part of a text ends, even if
// the text is invalid. [Members] and [Elements] read each byte once and copy nothing,
// so that a server with a hundred plugins starts quickly. [Marshal] and [Encode] write
// a value without escaping <, > and &.
//
// Package wire has its own JSON reader, because wire imports no package of opentabs and
// rejects objects that have a member twice.
//
// Package rawjson has no state. The functions of package rawjson may run in any
// goroutine.
package rawjson
