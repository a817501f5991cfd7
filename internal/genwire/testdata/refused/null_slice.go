// want: A.Tags: without omitempty its zero value is null on the wire
package wire

type A struct {
	Tags []string `json:"tags"`
}
