// want: type Tags: no wire form for map[string]string
package wire

type Tags map[string]string
