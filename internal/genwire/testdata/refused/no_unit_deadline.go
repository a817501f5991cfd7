// want: A.HardDeadline: say the unit
package wire

type A struct {
	HardDeadline *int `json:"hardDeadline,omitempty"`
}
