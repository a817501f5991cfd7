// want: A.N: no wire form for int64
package wire

type A struct {
	N int64 `json:"n"`
}
