/**
 * The conformance run fails if a check fails that expected.json does not list, or if a listed check passes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addVerdicts, compareVerdicts, readExpected, type Verdicts } from './verdicts.ts';

function makeVerdicts(checkVerdicts: readonly [id: string, status: string][]): Verdicts {
  const suiteVerdicts: Verdicts = new Map();
  addVerdicts(
    's',
    checkVerdicts.map(([id, status]) => ({ id, status, errorMessage: `why ${id}` })),
    suiteVerdicts,
  );
  return suiteVerdicts;
}

const expectedFailures = readExpected({
  reasons: { because: 'a reason' },
  runs: { run: { because: ['s:listed', 'all:*'] } },
});

test('the conformance run accepts the failure of a listed check only', () => {
  const verdictComparison = compareVerdicts(
    expectedFailures,
    'run',
    new Map([
      ...makeVerdicts([
        ['listed', 'FAILURE'],
        ['good', 'SUCCESS'],
        ['skipped', 'SKIPPED'],
        ['bad', 'FAILURE'],
        ['poor', 'WARNING'],
      ]),
      ['all:one', { status: 'FAILURE' as const, message: '' }],
      ['all:two', { status: 'SUCCESS' as const, message: '' }],
    ]),
  );
  assert.deepEqual(verdictComparison, {
    unexpectedFailures: ['s:bad (FAILURE): why bad', 's:poor (WARNING): why poor'],
    staleChecks: [],
    verdictCounts: { passed: 2, expected: 2 },
  });
});

test('a check that is listed as failing and passes is reported as stale', () => {
  assert.deepEqual(compareVerdicts(expectedFailures, 'run', makeVerdicts([['listed', 'SUCCESS']])).staleChecks, [
    's:listed',
    'all:*',
  ]);
  assert.deepEqual(compareVerdicts(expectedFailures, 'run', makeVerdicts([])).staleChecks, ['s:listed', 'all:*']);
  assert.throws(() => compareVerdicts(expectedFailures, 'another', makeVerdicts([])), /has no entry for another/);
});

test('the worst of several verdicts on one check counts', () => {
  const suiteVerdicts = makeVerdicts([
    ['a', 'SUCCESS'],
    ['a', 'FAILURE'],
    ['a', 'SUCCESS'],
  ]);
  assert.equal(suiteVerdicts.get('s:a')?.status, 'FAILURE');
  assert.throws(() => makeVerdicts([['a', 'NEWS']]), /malformed/);
});

test('the list of expected failures must explain each reason and have no unused reasons', () => {
  const expectedRuns = { run: { because: ['s:a'] } };
  assert.throws(() => readExpected({ reasons: {}, runs: expectedRuns }), /not named/);
  assert.throws(() => readExpected({ reasons: { because: '' }, runs: expectedRuns }), /is empty/);
  assert.throws(() => readExpected({ reasons: { because: 'x', other: 'y' }, runs: expectedRuns }), /remove the reason/);
  assert.throws(() => readExpected({ reasons: { because: 'x' }, runs: { run: { because: 's:a' } } }), /not a list/);
});
