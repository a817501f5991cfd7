// want: type Box: a type with parameters has no wire form
package wire

type Box[T any] struct {
	X string `json:"x"`
}
