// want: A.X: without omitempty its zero value is null on the wire
package wire

type A struct {
	X *float64 `json:"x"`
}
