declare global {
  var __opentabsSimulated: unknown;
}

export function isSimulated(): boolean {
  return globalThis.__opentabsSimulated === true;
}

/**
 * The build replaces OPENTABS_TEST_REAL_MS with the time limit of one test in milliseconds, or with 0 for simulated
 * pages.
 */
declare const OPENTABS_TEST_REAL_MS: number;

export function readRealTimeoutMs(): number {
  return isSimulated() ? OPENTABS_TEST_REAL_MS : 0;
}

/** Thrown if a test in a real browser uses an option that only simulated pages support. */
export class UnsupportedInBrowserError extends Error {}
