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

// compareTimes alternates between short blocks of both functions, so that a busy machine slows both equally. Other
// programs can only slow a run down, so compareTimes compares the fast blocks of the functions.
func compareTimes(runs int, floor, ours func() error) (float64, error) {
	var floorTimes, ourTimes []time.Duration
	begin := time.Now()
	for i := 0; i <= maxBlocks && (i <= minBlocks || time.Since(begin) < maxCompareTime); i++ {
		floorTime, err := medianTime(runs, floor)
		if err != nil {
			return 0, err
		}
		ourTime, err := medianTime(runs, ours)
		if err != nil {
			return 0, err
		}
		if i > 0 { // the first block only warms up, so its time is not counted
			floorTimes, ourTimes = append(floorTimes, floorTime), append(ourTimes, ourTime)
		}
	}
	return float64(fastTime(ourTimes)) / float64(fastTime(floorTimes)), nil
}

func medianTime(runs int, f func() error) (time.Duration, error) {
	times := make([]time.Duration, runs)
	for i := range times {
		begin := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		times[i] = time.Since(begin)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func fastTime(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/5]
}
