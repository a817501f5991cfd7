// want: A: embeds B; name the field
package wire

type B struct {
	X string `json:"x"`
}

type A struct {
	B
}
