// want: type HelloParams belongs to no method
package wire

type HelloParams struct {
	Name string `json:"name"`
}
