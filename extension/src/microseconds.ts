/** measureMicroseconds returns the time between two readings of one clock in whole microseconds, at least 0. */
export function measureMicroseconds(startMs: number, endMs: number): number {
  return Math.max(0, Math.round((endMs - startMs) * 1000));
}
