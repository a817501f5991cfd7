package shape

import "opentabs/dispatch"

// List is the JSON of a list of calls.
type List struct {
	Calls []dispatch.View `json:"calls"`
	// OmittedCount is the number of calls that a limited list leaves out.
	OmittedCount int `json:"more,omitempty"`
}
