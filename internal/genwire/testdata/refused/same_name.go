// want: A: two fields are called "x"
package wire

type A struct {
	X string `json:"x"`
	Y string `json:"x"`
}
