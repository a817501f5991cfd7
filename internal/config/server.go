package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"opentabs/internal/statefile"
)

// Server is the record that a running server leaves for other processes. A
// server that was killed leaves it behind, so ask the server on its port
// before you believe it.
type Server struct {
	PID     int       `json:"pid"`
	Port    int       `json:"port"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// WriteServer leaves the record of this process.
func (d Dirs) WriteServer(s Server) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the server's record: %w", err)
	}
	return statefile.Write(d.serverFile(), append(data, '\n'))
}

// ReadServer returns the record, and false if there is none that makes sense.
func (d Dirs) ReadServer() (Server, bool) {
	var s Server
	data, err := os.ReadFile(d.serverFile())
	if err != nil || json.Unmarshal(data, &s) != nil || s.PID <= 0 || s.Port <= 0 || s.Port > 65535 {
		return Server{}, false
	}
	return s, true
}

// RemoveServer takes the record of the process pid away, and leaves that of
// another one alone.
func (d Dirs) RemoveServer(pid int) error {
	if s, ok := d.ReadServer(); !ok || s.PID != pid {
		return nil
	}
	if err := os.Remove(d.serverFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the server's record: %w", err)
	}
	return nil
}
