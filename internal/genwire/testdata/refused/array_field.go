// want: A.X: no wire form for [3]string
package wire

type A struct {
	X [3]string `json:"x,omitempty"`
}
