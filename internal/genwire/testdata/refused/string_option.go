// want: A.X: json option "string" has no wire form
package wire

type A struct {
	X int `json:"x,string"`
}
