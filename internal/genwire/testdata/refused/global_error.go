// want: type Error equals a global name of TypeScript; call it WireError, for example
package wire

type Error struct {
	Text string `json:"text"`
}
