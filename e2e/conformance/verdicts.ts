/** Reads the verdicts of an MCP conformance suite and compares the verdicts with the expected failures. */

export type CheckStatus = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

/** Verdict is the worst outcome of a check. A conformance suite can report the same check more than once. */
export interface Verdict {
  readonly status: CheckStatus;
  readonly message: string;
}

export type Verdicts = Map<string, Verdict>;

const statusOrder: readonly CheckStatus[] = ['INFO', 'SKIPPED', 'SUCCESS', 'WARNING', 'FAILURE'];

export function addVerdicts(scenarioName: string, scenarioChecks: unknown, suiteVerdicts: Verdicts): void {
  if (!Array.isArray(scenarioChecks)) throw new Error(`${scenarioName} has no list of checks`);
  for (const scenarioCheck of scenarioChecks) {
    if (!isCheck(scenarioCheck))
      throw new Error(`${scenarioName} has a malformed check: ${JSON.stringify(scenarioCheck)}`);
    const key = `${scenarioName}:${scenarioCheck.id}`;
    const previousVerdict = suiteVerdicts.get(key);
    if (previousVerdict && statusOrder.indexOf(previousVerdict.status) >= statusOrder.indexOf(scenarioCheck.status))
      continue;
    suiteVerdicts.set(key, { status: scenarioCheck.status, message: scenarioCheck.errorMessage ?? '' });
  }
}

interface ScenarioCheck {
  readonly id: string;
  readonly status: CheckStatus;
  readonly errorMessage?: string;
}

function isCheck(value: unknown): value is ScenarioCheck {
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
  const reasonTexts: Record<string, string> = {};
  for (const [name, reasonText] of Object.entries(value.reasons)) {
    if (typeof reasonText !== 'string' || reasonText === '')
      throw new Error(`expected.json: the reason ${name} is empty`);
    reasonTexts[name] = reasonText;
  }
  const expectedRuns: Record<string, Record<string, string[]>> = {};
  const usedReasons = new Set<string>();
  for (const [runName, rawChecksByReason] of Object.entries(value.runs)) {
    if (!isRecord(rawChecksByReason)) throw new Error(`expected.json: ${runName} is not an object`);
    const checksByReason: Record<string, string[]> = {};
    for (const [reason, scenarioChecks] of Object.entries(rawChecksByReason)) {
      if (reasonTexts[reason] === undefined)
        throw new Error(`expected.json: ${runName} has a reason ${reason} that is not named`);
      if (
        !Array.isArray(scenarioChecks) ||
        !scenarioChecks.every((scenarioCheck) => typeof scenarioCheck === 'string')
      ) {
        throw new Error(`expected.json: ${runName}, ${reason} is not a list of checks`);
      }
      usedReasons.add(reason);
      checksByReason[reason] = scenarioChecks;
    }
    expectedRuns[runName] = checksByReason;
  }
  for (const name of Object.keys(reasonTexts)) {
    if (!usedReasons.has(name))
      throw new Error(`expected.json: nothing fails for the reason ${name}; remove the reason`);
  }
  return { reasons: reasonTexts, runs: expectedRuns };
}

export interface VerdictComparison {
  /** unexpectedFailures lists the checks that failed or reported a warning, but are not in expected.json. */
  readonly unexpectedFailures: readonly string[];
  /** staleChecks lists the entries of expected.json that match no check that failed in this run. */
  readonly staleChecks: readonly string[];
  readonly verdictCounts: { readonly passed: number; readonly expected: number };
}

export function compareVerdicts(
  expectedFailures: ExpectedFailures,
  runName: string,
  suiteVerdicts: Verdicts,
): VerdictComparison {
  const checksByReason = expectedFailures.runs[runName];
  if (!checksByReason) throw new Error(`expected.json has no entry for ${runName}`);
  const expectedFailureLines = new Set(Object.values(checksByReason).flat());
  const matchedLines = new Set<string>();
  const unexpectedFailures: string[] = [];
  let passedCount = 0;
  let failedCount = 0;
  for (const [scenarioCheck, { status, message: checkMessage }] of suiteVerdicts) {
    if (status === 'SUCCESS') passedCount++;
    if (status !== 'FAILURE' && status !== 'WARNING') continue;
    const scenarioPattern = `${scenarioCheck.slice(0, scenarioCheck.indexOf(':'))}:*`;
    const expectedFailureLine = expectedFailureLines.has(scenarioCheck)
      ? scenarioCheck
      : expectedFailureLines.has(scenarioPattern)
        ? scenarioPattern
        : undefined;
    if (expectedFailureLine === undefined) {
      unexpectedFailures.push(`${scenarioCheck} (${status}): ${checkMessage}`);
      continue;
    }
    matchedLines.add(expectedFailureLine);
    failedCount++;
  }
  return {
    unexpectedFailures,
    staleChecks: [...expectedFailureLines].filter((expectedFailureLine) => !matchedLines.has(expectedFailureLine)),
    verdictCounts: { passed: passedCount, expected: failedCount },
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
