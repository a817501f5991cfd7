// want: A.Tags: no wire form for map[string]string
package wire

type A struct {
	Tags map[string]string `json:"tags,omitempty"`
}
