// want: A.X: no wire form for any
package wire

type A struct {
	X any `json:"x"`
}
