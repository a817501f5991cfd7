package errtext

var (
	RetrySoonStep         = Step{"Retry in a few seconds.", "Retry in a few seconds."}
	CheckTabStep          = Step{"Ask the user to check the tab, then retry.", "Check the tab, then retry."}
	RetryLoadStep         = Step{"Ask the user about the page, then retry: opentabs loads the page again.", "Check the page, then retry: opentabs loads it again."}
	ReloadTabStep         = Step{"Ask the user to reload the tab, then retry.", "Reload the tab, then retry."}
	ChooseTabToReloadStep = Step{
		`Name one of these tabs as "tabId" and its browser as "browser", then retry: opentabs asks the user to allow the reload.`,
		"Reload one of these tabs, then retry."}
	ChooseTabStep = Step{
		`Name one of these tabs as "tabId", or name no tab, then retry.`,
		"Choose one of these tabs with --tab, or no tab, then retry."}
	AllowSiteStep = Step{
		`Ask the user to open the side panel of opentabs and to press "Allow on", then retry.`,
		`Show the tab, open the side panel of opentabs, press "Allow on", then retry.`}
)
