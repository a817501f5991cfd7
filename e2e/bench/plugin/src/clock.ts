/**
 * measureClockLead takes 15 ms to measure how far Date.now() is ahead of performance.timeOrigin + performance.now().
 */
export function measureClockLead(): number {
  const leadSamples: number[] = [];
  while (leadSamples.length < 15) {
    const startMs = Date.now();
    while (Date.now() === startMs); // wait for the start of the next millisecond
    leadSamples.push(Date.now() - performance.timeOrigin - performance.now());
  }
  return leadSamples.sort((a, b) => a - b)[7] ?? 0;
}

/** readPreciseTimeMs returns the system time in milliseconds since 1970, with a resolution of 0.1 ms in Chrome. */
export function readPreciseTimeMs(clockLeadMs: number): number {
  return performance.timeOrigin + performance.now() + clockLeadMs;
}
