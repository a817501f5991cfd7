// want: A.T: no wire form for time.Time
package wire

import "time"

type A struct {
	T time.Time `json:"t"`
}
