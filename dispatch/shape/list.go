package shape

import "opentabs/dispatch"

// List is the JSON form of a list of calls.
type List struct {
	Calls []dispatch.View `json:"calls"`
	// OmittedCount is the number of calls that the list omits because of its limit.
	OmittedCount int `json:"more,omitempty"`
}
