declare global {
  /** Set by `opentabs plugin test` in the engine in which tests run. */
  var __opentabsSimulated: unknown;
}

/** Reports whether this code runs under `opentabs plugin test`. */
export function isSimulated(): boolean {
  return globalThis.__opentabsSimulated === true;
}
