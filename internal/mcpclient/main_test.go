package mcpclient

import (
	"testing"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
