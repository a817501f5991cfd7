package wsbridge

import "opentabs/wire"

// AdapterStartReport is a browser's report that an adapter started, or failed to start, in a document.
type AdapterStartReport struct {
	Plugin string
	// The field Hash is the content hash of the adapter's code, which identifies the
	// plugin's version.
	Hash string
	// URL is the address of the document that the adapter belongs to. Browser is the name
	// of the browser that shows the document.
	URL, Browser string
	// Problem is the reason why the adapter did not start, or empty if the adapter runs.
	Problem string
}

func listAdapterStarts(t wire.TabInfo, browser string) []AdapterStartReport {
	var startReports []AdapterStartReport
	for _, d := range listDocuments(t) {
		for _, p := range d.plugins {
			startReports = append(startReports, AdapterStartReport{Plugin: p.Name, Hash: p.Hash, URL: d.url, Browser: browser})
		}
	}
	for _, p := range t.BrokenPlugins {
		startReports = append(startReports, AdapterStartReport{Plugin: p.Name, Hash: p.Hash, URL: t.URL, Browser: browser, Problem: p.Problem})
	}
	return startReports
}

// The caller of reportAdapterStarts must hold no lock.
func (h *Hub) reportAdapterStarts(startReports []AdapterStartReport) {
	if h.opts.ReceiveStart == nil {
		return
	}
	for _, s := range startReports {
		h.opts.ReceiveStart(s)
	}
}
