// want: A: "b" has the type B, which has no wire form
package wire

type A struct {
	B B `json:"b"`
}
