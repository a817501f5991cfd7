// want: A.IdleTimeout: say the unit: idleTimeoutMs
package wire

type A struct {
	IdleTimeout int `json:"idleTimeout"`
}
