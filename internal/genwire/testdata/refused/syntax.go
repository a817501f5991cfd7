// want: expected
package wire

type A struct {
