// want: A: omitempty does nothing for "b", a struct; use a pointer
package wire

type B struct {
	X string `json:"x"`
}

type A struct {
	B B `json:"b,omitempty"`
}
