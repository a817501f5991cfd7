// want: A.F: no wire form for func()
package wire

type A struct {
	F func() `json:"f"`
}
