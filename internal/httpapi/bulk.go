package httpapi

import (
	"errors"
	"net/http"

	"opentabs/internal/httpjson"
	"opentabs/wire"
)

// A request body of maxBulkBytes can list about 10,000 plugins.
const maxBulkBytes = 1 << 20

// enableBody is the request body of POST /plugins/enable, with a review of each plugin.
type enableBody struct {
	Plugins []wire.ConfigReviewParams `json:"plugins"`
}

// disableBody is the request body of POST /plugins/disable, with the names of the
// plugins.
type disableBody struct {
	Plugins []string `json:"plugins"`
}

// bulkResult is the response to a request that changes several plugins. Errors[i] is the
// error of the plugin at index i of the request, or an empty string.
type bulkResult struct {
	Errors []string `json:"errors"`
}

func (p policyRoutes) enablePlugins(w http.ResponseWriter, r *http.Request) {
	if body, ok := decodeLimitedBody[enableBody](w, r, maxBulkBytes); ok {
		httpjson.Send(w, http.StatusOK, newBulkResult(p.policy.ReviewAll(body.Plugins, CommandLine)))
	}
}

func (p policyRoutes) disablePlugins(w http.ResponseWriter, r *http.Request) {
	if body, ok := decodeLimitedBody[disableBody](w, r, maxBulkBytes); ok {
		httpjson.Send(w, http.StatusOK, newBulkResult(p.policy.DisableAll(body.Plugins, CommandLine)))
	}
}

func newBulkResult(errs []error) bulkResult {
	result := bulkResult{Errors: make([]string, len(errs))}
	for i, err := range errs {
		if err != nil {
			result.Errors[i] = err.Error()
		}
	}
	return result
}

func (p policyClient) ReviewAll(reviews []wire.ConfigReviewParams, _ string) (errs []error) {
	return p.changePlugins("/plugins/enable", enableBody{reviews}, len(reviews))
}

func (p policyClient) DisableAll(plugins []string, _ string) (errs []error) {
	return p.changePlugins("/plugins/disable", disableBody{plugins}, len(plugins))
}

// changePlugins uses the long timeout of a plugin reload, because the server reads all files of the changed plugins.
func (p policyClient) changePlugins(path string, body any, n int) (errs []error) {
	var result bulkResult
	err := p.client.postWithTimeout(p.ctx, reloadTimeout, path, body, &result)
	errs = make([]error, n)
	for i := range errs {
		switch {
		case err != nil:
			errs[i] = err
		case i >= len(result.Errors):
			errs[i] = errors.New("the server did not confirm the change of the plugins")
		case result.Errors[i] != "":
			errs[i] = errors.New(result.Errors[i])
		}
	}
	return errs
}
