// want: A.Rows: no wire form for [][]string
package wire

type A struct {
	Rows [][]string `json:"rows,omitempty"`
}
