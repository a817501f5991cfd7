// want: A.X: give each field an exported name and its own json tag
package wire

type A struct {
	X string
}
