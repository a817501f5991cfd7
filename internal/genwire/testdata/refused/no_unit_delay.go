// want: A.RetryDelay: say the unit
package wire

type A struct {
	RetryDelay float64 `json:"retryDelay"`
}
