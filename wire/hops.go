package wire

// BrowserHops are the times that one traced call spent in the browser, in microseconds. Each
// duration is the difference between two readings of the same clock, because the clocks of the
// service worker and the page differ. Chrome randomly rounds its clocks to 0.1 ms, so only
// averages over many calls are accurate.
type BrowserHops struct {
	// WorkerInUs is the time from the arrival of the tool.dispatch in the service worker until
	// the worker posts the call to the document.
	WorkerInUs int `json:"workerInUs"`
	// DocumentUs is the time from posting the call to the document until its result arrives in
	// the service worker. DocumentUs includes the time in the page, and the time that messages
	// take through the port in both directions.
	DocumentUs int `json:"documentUs"`
	// WorkerOutUs is the time from the arrival of the result in the service worker until the
	// answer is encoded.
	WorkerOutUs int      `json:"workerOutUs"`
	Page        PageHops `json:"page"`
}

// PageHops are the times that one traced call spent in its page, in microseconds. All times
// in PageHops are from the page's clock.
type PageHops struct {
	// BridgeInUs is the time from the arrival of the call in the content script (the bridge)
	// until the bridge sends the call to the host.
	BridgeInUs int `json:"bridgeInUs"`
	// HostInUs is the time from the bridge's message to the host until the plugin's isReady
	// has returned.
	HostInUs int `json:"hostInUs"`
	// SchemaUs is the time in which the tool's schema parses the arguments.
	SchemaUs int `json:"schemaUs"`
	// HandlerUs is the time from the call of the tool's handler until its result.
	HandlerUs int `json:"handlerUs"`
	// ResultUs is the time from the handler's result until its JSON text arrives in the
	// bridge.
	ResultUs int `json:"resultUs"`
}

// TotalUs returns the total time that the call spent in its page, in microseconds.
func (h PageHops) TotalUs() int {
	return h.BridgeInUs + h.HostInUs + h.SchemaUs + h.HandlerUs + h.ResultUs
}
