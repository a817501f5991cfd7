package doctor

import (
	"fmt"
	"os"
	"strings"
	"time"

	"opentabs/internal/extensiondir"
	"opentabs/internal/humanize"
)

// machineCheck checks the computer: its disk, its clock, and the Windows Subsystem for
// Linux.
type machineCheck struct{ *healthCheck }

// The disk check fails below minFreeBytes, because opentabs cannot store changes, and warns below lowFreeBytes.
const (
	minFreeBytes = 1 << 20
	lowFreeBytes = 50 << 20
)

func (c machineCheck) checkDisk() {
	if c.FreeBytes == nil {
		return
	}
	freeBytes, err := c.FreeBytes(c.dirs.State)
	remedy := "free some space on the disk with " + c.dirs.State + ", or set OPENTABS_HOME to a directory on another disk"
	switch {
	case err != nil:
		c.reportWarning("disk", "the free space is unknown: "+err.Error(), "check that the disk with "+c.dirs.State+" is mounted")
	case freeBytes < minFreeBytes:
		c.reportFailure("disk", fmt.Sprintf("the disk is full (%s free), so nothing can be stored", humanize.Bytes(int(freeBytes))), remedy)
	case freeBytes < lowFreeBytes:
		c.reportWarning("disk", fmt.Sprintf("the disk is almost full (%s free)", humanize.Bytes(int(freeBytes))), remedy)
	default:
		c.reportOK("disk", "%s free", humanize.Bytes(int(freeBytes)))
	}
}

// maxClockDrift is how far in the future the modification time of a file may be before
// `opentabs doctor` reports a wrong clock.
const maxClockDrift = 5 * time.Minute

// minPlausibleTime is before the release of this version, so a clock that shows an earlier time is wrong.
var minPlausibleTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// With a slow clock, jobs and temporary permissions expire too late.
func (c machineCheck) checkClock() {
	const remedy = "set the clock of this computer (on Linux: timedatectl set-ntp true; in WSL: wsl --shutdown in Windows)"
	now := c.Now()
	if now.Before(minPlausibleTime) {
		c.reportFailure("clock", fmt.Sprintf("the clock of this computer shows %s", now.Local().Format(time.DateTime)), remedy)
		return
	}
	for _, path := range []string{c.dirs.TokenFile(), c.dirs.ConfigFile(), c.dirs.ClientsFile(), c.dirs.LogFile(), c.dirs.ExtensionRecord()} {
		fileInfo, err := os.Stat(path)
		if err != nil {
			continue
		}
		if clockDrift := fileInfo.ModTime().Sub(now); clockDrift > maxClockDrift {
			c.reportWarning("clock", fmt.Sprintf("%s was written %s in the future, so the clock was or is wrong", path, humanize.Duration(clockDrift)), remedy)
			return
		}
	}
	c.reportOK("clock", "%s", now.Local().Format(time.DateTime))
}

const kernelReleaseFile = "/proc/sys/kernel/osrelease"

func (c machineCheck) wslDistribution() (name string, ok bool) {
	if name = c.getenv("WSL_DISTRO_NAME"); name != "" {
		return name, true
	}
	readFile := c.ReadFile
	if readFile == nil {
		readFile = os.ReadFile
	}
	release, err := readFile(kernelReleaseFile)
	return "Linux", err == nil && strings.Contains(strings.ToLower(string(release)), "microsoft")
}

func (c machineCheck) checkMachine() {
	distribution, isWSL := c.wslDistribution()
	if !isWSL {
		return
	}
	if c.status != nil && len(c.status.Browsers) > 0 {
		c.reportOK("wsl", "the server runs in WSL (%s) and a browser is connected", distribution)
		return
	}
	dir, isInstalled := extensiondir.Find(c.dirs)
	if _, isOnWindowsDrive := extensiondir.WindowsPath(dir); isInstalled && isOnWindowsDrive {
		c.reportWarning("wsl", fmt.Sprintf("the server runs in WSL (%s), and the extension is in Windows (%s), but no browser is connected", distribution, dir),
			fmt.Sprintf("open http://127.0.0.1:%d/healthz in Chrome in Windows; if that page does not load, add networkingMode=mirrored below [wsl2] in %%UserProfile%%\\.wslconfig, then run wsl --shutdown", c.serverPort()))
		return
	}
	c.reportWarning("wsl", fmt.Sprintf("the server runs in WSL (%s); Chrome in Windows cannot load an extension from a Linux folder reliably", distribution),
		"if your Chrome runs in Windows, run `"+extensiondir.WindowsInstallCommand+"` with your Windows name, and load that folder in Chrome")
}
