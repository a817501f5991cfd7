package main

import (
	"slices"
	"time"
)

const (
	// A comparison ends after maxCompareTime or maxBlocks blocks, but measures at least minBlocks blocks.
	maxBlocks      = 150
	minBlocks      = 40
	maxCompareTime = 4 * time.Second
)

// compareTimes alternates between short blocks of both functions, so that a busy machine slows both equally.
// compareTimes uses only the fast blocks of each function, because other programs can only slow a block down.
func compareTimes(runs int, runBaseline, runOpentabs func() error) (float64, error) {
	var baselineTimes, opentabsTimes []time.Duration
	startTime := time.Now()
	for i := 0; i <= maxBlocks && (i <= minBlocks || time.Since(startTime) < maxCompareTime); i++ {
		baselineMedian, err := medianTime(runs, runBaseline)
		if err != nil {
			return 0, err
		}
		opentabsMedian, err := medianTime(runs, runOpentabs)
		if err != nil {
			return 0, err
		}
		if i > 0 { // the first block only warms up, so its time is not counted
			baselineTimes, opentabsTimes = append(baselineTimes, baselineMedian), append(opentabsTimes, opentabsMedian)
		}
	}
	return float64(fastestQuintile(opentabsTimes)) / float64(fastestQuintile(baselineTimes)), nil
}

func medianTime(runs int, f func() error) (time.Duration, error) {
	times := make([]time.Duration, runs)
	for i := range times {
		startTime := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times[i] = time.Since(startTime)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func fastestQuintile(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/5]
}
