package wire

// TicketPageView is the page in which a suspended call would run.
type TicketPageView struct {
	// BrowserName is the name that the user gave the browser.
	BrowserName string `json:"browserName,omitempty"`
	// TabID is absent if the page is in another browser.
	TabID    int    `json:"tabId,omitempty"`
	TabTitle string `json:"tabTitle,omitempty"`
	// Site is the origin of the page.
	Site string `json:"site,omitempty"`
}

// DecisionView is a decision of the user about a ticket.
type DecisionView struct {
	TicketID string `json:"ticketId"`
	Allowed  bool   `json:"allowed"`
	// By is the surface where the user decided, such as "the side panel".
	By string `json:"by"`
}

// Surface is where the user decides in a browser.
type Surface string

const (
	// SurfacePanel is the side panel.
	SurfacePanel Surface = "panel"
	// SurfacePopup is the popup of the toolbar icon.
	SurfacePopup Surface = "popup"
	// SurfaceNotification is a notification of the desktop.
	SurfaceNotification Surface = "notification"
)
