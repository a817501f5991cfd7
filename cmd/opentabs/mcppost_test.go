package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// runMCPPost authenticates with the client token in added.json, and continues the MCP session of its last run.
func runMCPPost() {
	if err := postFile(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func postFile(path, file string) error {
	fileContent, err := os.ReadFile("added.json")
	if err != nil {
		return err
	}
	var newClient addedClient
	if err := json.Unmarshal(fileContent, &newClient); err != nil {
		return err
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(newClient.URL, "/mcp")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	name, headerValue, _ := strings.Cut(newClient.Header, ": ")
	req.Header.Set(name, headerValue)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if session, err := os.ReadFile("session"); err == nil {
		req.Header.Set("Mcp-Session-Id", string(session))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		if err := os.WriteFile("session", []byte(id), 0o600); err != nil {
			return err
		}
	}
	fmt.Println(resp.Status)
	return resp.Write(os.Stdout)
}
