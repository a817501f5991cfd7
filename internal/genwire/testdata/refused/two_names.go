// want: A.X: give each field an exported name and a json tag of its own
package wire

type A struct {
	X, Y string `json:"x"`
}
