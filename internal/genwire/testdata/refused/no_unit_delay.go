// want: A.RetryDelay: add the unit to the name
package wire

type A struct {
	RetryDelay float64 `json:"retryDelay"`
}
