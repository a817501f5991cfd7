package npm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const maxResults = 250

// SearchResult is one package in the results of a search.
type SearchResult struct {
	Name        string
	Version     string
	Description string
	// Publisher is the npm user who published the version; Publisher may be empty.
	Publisher string
}

// Search returns packages that have a keyword and match the words of query, best match
// first. Search returns at most limit packages, and never more than 250.
func (c *Client) Search(ctx context.Context, keyword, query string, limit int) ([]SearchResult, error) {
	registry, _, err := c.config.Registry("")
	if err != nil {
		return nil, err
	}
	searchText := "keywords:" + keyword
	if query != "" {
		searchText += " " + query
	}
	q := url.Values{"text": {searchText}, "size": {strconv.Itoa(min(limit, maxResults))}}
	var results struct {
		Objects []struct {
			Package struct {
				Name        string `json:"name"`
				Version     string `json:"version"`
				Description string `json:"description"`
				Publisher   struct {
					Username string `json:"username"`
				} `json:"publisher"`
			} `json:"package"`
		} `json:"objects"`
	}
	err = c.getWithRetries(ctx, registry+"-/v1/search?"+q.Encode(), "application/json", func(response *http.Response) error {
		return decodeJSON(response, maxSearchBytes, &results)
	})
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("the registry %s does not support searching (HTTP 404 Not Found); set another registry in .npmrc, or install a package by name with `opentabs plugin install PACKAGE`", strings.TrimSuffix(registry, "/"))
	}
	if err != nil {
		return nil, fmt.Errorf("search for plugins: %w", err)
	}
	var searchResults []SearchResult
	for _, o := range results.Objects {
		if CheckName(o.Package.Name) == nil {
			searchResults = append(searchResults, SearchResult{o.Package.Name, o.Package.Version, o.Package.Description, o.Package.Publisher.Username})
		}
	}
	return searchResults, nil
}
