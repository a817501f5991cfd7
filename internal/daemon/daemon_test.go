package daemon

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
	"opentabs/plugin"
	"opentabs/plugin/policy"
)

func TestSettingsReachCalls(t *testing.T) {
	for _, tt := range []struct{ userInterval, interval time.Duration }{
		{50 * time.Millisecond, 50 * time.Millisecond},
		{0, -1}, // the interval 0 means no limit
	} {
		registry := newTestCatalog(plugin.NewStore(t.TempDir(), plugin.StoreOptions{}))
		o := dispatchOptions(config.Settings{
			IdleTimeout: 1, MaxIdleTimeout: 7, HardTimeout: 2, DecisionTimeout: 3, ProgressInterval: tt.userInterval,
			MaxRunning: 4, MaxWaiting: 5, MaxResultBytes: 6,
		}, &plugins{registry: registry, enforcer: policy.NewEnforcer(nil)}, nil, callAuditor{}, zerolog.Nop())
		if o.ProgressInterval != tt.interval {
			t.Errorf("an interval of %v became %v, want %v", tt.userInterval, o.ProgressInterval, tt.interval)
		}
		if o.IdleLimit != 1 || o.MaxIdleLimit != 7 || o.HardLimit != 2 || o.SuspendLimit != 3 || o.MaxRunningCalls != 4 || o.MaxWaitingCalls != 5 || o.MaxResultBytes != 6 {
			t.Errorf("options %+v", o)
		}
	}
}
