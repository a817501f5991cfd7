package wire

// TicketPageView describes the page in which a suspended call would run after the user's
// approval.
type TicketPageView struct {
	// BrowserName is the name that the user gave the browser.
	BrowserName string `json:"browserName,omitempty"`
	// TabID is Chrome's ID of the tab. TabID is absent if the tab is in another browser than
	// the side panel.
	TabID    int    `json:"tabId,omitempty"`
	TabTitle string `json:"tabTitle,omitempty"`
	// Site is the origin of the page in which the call would run.
	Site string `json:"site,omitempty"`
}

// DecisionView is the user's decision about a suspended call.
type DecisionView struct {
	TicketID string `json:"ticketId"`
	Allowed  bool   `json:"allowed"`
	// The field By is a text that names where the user decided, such as "the side panel".
	By string `json:"by"`
}

// Surface is the part of the extension in which the user approves or denies a call.
type Surface string

const (
	// SurfacePanel is the side panel of the extension.
	SurfacePanel Surface = "panel"
	// SurfacePopup is the popup of the extension's toolbar icon.
	SurfacePopup Surface = "popup"
	// SurfaceNotification is a desktop notification of the extension.
	SurfaceNotification Surface = "notification"
)
