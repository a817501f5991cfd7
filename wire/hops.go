package wire

// BrowserHops are the times that one traced call spent in the browser, in
// microseconds. Worker and page have different clocks, so each time is measured by one
// clock. Chrome rounds each clock to 0.1 ms at random, so only the means of many calls
// are exact.
type BrowserHops struct {
	// WorkerInUs is the time from the arrival of the tool.dispatch in the worker until
	// the worker posts the call to the document.
	WorkerInUs int `json:"workerInUs"`
	// DocumentUs is the time from the post of the call until its result arrives in the
	// worker: the port in both directions, and the page.
	DocumentUs int `json:"documentUs"`
	// WorkerOutUs is the time from the arrival of the result until the worker encodes
	// the answer.
	WorkerOutUs int      `json:"workerOutUs"`
	Page        PageHops `json:"page"`
}

// PageHops are the times that one traced call spent in its page, in microseconds. The
// bridge and the host use the same clock.
type PageHops struct {
	// BridgeInUs is the time from the arrival of the call in the bridge until the bridge
	// sends the call to the host.
	BridgeInUs int `json:"bridgeInUs"`
	// HostInUs is the time until the plugin's isReady has returned.
	HostInUs int `json:"hostInUs"`
	// SchemaUs is the time until the tool's schema has parsed the arguments.
	SchemaUs int `json:"schemaUs"`
	// HandlerUs is the time until the handler has returned its result.
	HandlerUs int `json:"handlerUs"`
	// ResultUs is the time until the result has arrived in the bridge as JSON text.
	ResultUs int `json:"resultUs"`
}

// SumUs is the time that the call spent in its page.
func (h PageHops) SumUs() int {
	return h.BridgeInUs + h.HostInUs + h.SchemaUs + h.HandlerUs + h.ResultUs
}
