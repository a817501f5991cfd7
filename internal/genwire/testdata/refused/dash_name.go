// want: A.X: give it a json name
package wire

type A struct {
	X string `json:"-"`
}
