// want: A.IdleTimeout: add the unit to the name: idleTimeoutMs
package wire

type A struct {
	IdleTimeout int `json:"idleTimeout"`
}
