/** Reads the verdicts of an MCP conformance suite and compares the verdicts with the expected failures. */

export type Status = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

/** Verdict is the worst outcome of a check. A conformance suite can report the same check more than once. */
export interface Verdict {
  readonly status: Status;
  readonly message: string;
}

export type Verdicts = Map<string, Verdict>;

const statusOrder: readonly Status[] = ['INFO', 'SKIPPED', 'SUCCESS', 'WARNING', 'FAILURE'];

export function addVerdicts(scenario: string, checks: unknown, verdicts: Verdicts): void {
  if (!Array.isArray(checks)) throw new Error(`${scenario} has no list of checks`);
  for (const check of checks) {
    if (!isCheck(check)) throw new Error(`${scenario} has a malformed check: ${JSON.stringify(check)}`);
    const key = `${scenario}:${check.id}`;
    const previous = verdicts.get(key);
    if (previous && statusOrder.indexOf(previous.status) >= statusOrder.indexOf(check.status)) continue;
    verdicts.set(key, { status: check.status, message: check.errorMessage ?? '' });
  }
}

interface Check {
  readonly id: string;
  readonly status: Status;
  readonly errorMessage?: string;
}

function isCheck(value: unknown): value is Check {
  return isRecord(value) && typeof value.id === 'string' && statusOrder.some((status) => status === value.status);
}

/**
 * ExpectedFailures is the content of expected.json: the checks that are known to fail, and why. `scenario:*` matches
 * all failed checks of a scenario.
 */
export interface ExpectedFailures {
  readonly reasons: Readonly<Record<string, string>>;
  readonly runs: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

export function readExpected(value: unknown): ExpectedFailures {
  if (!isRecord(value) || !isRecord(value.reasons) || !isRecord(value.runs))
    throw new Error('expected.json is malformed');
  const reasons: Record<string, string> = {};
  for (const [name, text] of Object.entries(value.reasons)) {
    if (typeof text !== 'string' || text === '') throw new Error(`expected.json: the reason ${name} is empty`);
    reasons[name] = text;
  }
  const runs: Record<string, Record<string, string[]>> = {};
  const usedReasons = new Set<string>();
  for (const [run, byReason] of Object.entries(value.runs)) {
    if (!isRecord(byReason)) throw new Error(`expected.json: ${run} is not an object`);
    const checksByReason: Record<string, string[]> = {};
    for (const [reason, checks] of Object.entries(byReason)) {
      if (reasons[reason] === undefined)
        throw new Error(`expected.json: ${run} has a reason ${reason} that is not named`);
      if (!Array.isArray(checks) || !checks.every((check) => typeof check === 'string')) {
        throw new Error(`expected.json: ${run}, ${reason} is not a list of checks`);
      }
      usedReasons.add(reason);
      checksByReason[reason] = checks;
    }
    runs[run] = checksByReason;
  }
  for (const name of Object.keys(reasons)) {
    if (!usedReasons.has(name))
      throw new Error(`expected.json: nothing fails for the reason ${name}; remove the reason`);
  }
  return { reasons, runs };
}

export interface Comparison {
  /** The field `unexpected` lists the checks that failed or reported a warning, but are not in expected.json. */
  readonly unexpected: readonly string[];
  /** The field `stale` lists the entries of expected.json that match no check that failed in this run. */
  readonly stale: readonly string[];
  readonly counts: { readonly passed: number; readonly expected: number };
}

export function compareVerdicts(expected: ExpectedFailures, run: string, verdicts: Verdicts): Comparison {
  const checksByReason = expected.runs[run];
  if (!checksByReason) throw new Error(`expected.json has no entry for ${run}`);
  const listedChecks = new Set(Object.values(checksByReason).flat());
  const matchedLines = new Set<string>();
  const unexpected: string[] = [];
  let passedCount = 0;
  let failedCount = 0;
  for (const [check, { status, message }] of verdicts) {
    if (status === 'SUCCESS') passedCount++;
    if (status !== 'FAILURE' && status !== 'WARNING') continue;
    const scenarioPattern = `${check.slice(0, check.indexOf(':'))}:*`;
    const line = listedChecks.has(check) ? check : listedChecks.has(scenarioPattern) ? scenarioPattern : undefined;
    if (line === undefined) {
      unexpected.push(`${check} (${status}): ${message}`);
      continue;
    }
    matchedLines.add(line);
    failedCount++;
  }
  return {
    unexpected,
    stale: [...listedChecks].filter((line) => !matchedLines.has(line)),
    counts: { passed: passedCount, expected: failedCount },
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
