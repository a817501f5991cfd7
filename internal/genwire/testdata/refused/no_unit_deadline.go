// want: A.HardDeadline: add the unit to the name
package wire

type A struct {
	HardDeadline *int `json:"hardDeadline,omitempty"`
}
