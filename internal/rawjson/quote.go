package rawjson

import "bufio"

// WriteQuoted writes JSON text as one JSON string. WriteQuoted makes no copy, because a
// result may have 100 MB.
func WriteQuoted(w *bufio.Writer, text []byte) {
	const hex = "0123456789abcdef"
	w.WriteByte('"')
	start := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		w.Write(text[start:i])
		start = i + 1
		switch c {
		case '"':
			w.WriteString(`\"`)
		case '\\':
			w.WriteString(`\\`)
		case '\t':
			w.WriteString(`\t`)
		default:
			w.WriteString(`\u00`)
			w.WriteByte(hex[c>>4])
			w.WriteByte(hex[c&15])
		}
	}
	w.Write(text[start:])
	w.WriteByte('"')
}
