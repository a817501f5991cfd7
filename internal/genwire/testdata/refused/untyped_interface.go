// want: A.X: no wire form for interface{}
package wire

type A struct {
	X interface{} `json:"x"`
}
