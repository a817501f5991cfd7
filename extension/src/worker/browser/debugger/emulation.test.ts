import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { EmulationIdleMs, type EmulationOverride, Emulations } from './emulation.ts';
import { endEmulationCommands } from './features.ts';

const darkModeOverride: EmulationOverride = {
  command: ['Emulation.setEmulatedMedia', { features: [] }],
  text: 'media dark',
};
const makeTimezoneOverride = (timezoneId: string): EmulationOverride => ({
  command: ['Emulation.setTimezoneOverride', { timezoneId }],
  text: `time zone ${timezoneId}`,
});

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

function makeFixture() {
  const sentCommands: string[] = [];
  let loseSession = () => {};
  const emulations = new Emulations({
    hold: async () => {
      sentCommands.push('hold');
      return {
        session: {
          send: async (method, { timezoneId } = {}) => {
            if (timezoneId === 'Nowhere') throw new Error('Invalid timezone');
            sentCommands.push(method);
            return {};
          },
          onEvent: () => () => undefined,
          onChildTarget: () => () => undefined,
          watchChildren: async () => () => undefined,
        },
        detachedPromise: new Promise((_, reject) => {
          loseSession = () => reject(new Error('detached'));
        }),
        release: async () => {
          sentCommands.push('release');
        },
      };
    },
  });
  return { emulations, sentCommands, loseSession: () => loseSession() };
}

async function settlePromises(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

const endEmulationMethods = endEmulationCommands.map(([method]) => method);

test('an emulation stays on until the method clear, which removes each override', async () => {
  const { emulations, sentCommands } = makeFixture();
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  await emulations.applyOverrides(7, 's1', [makeTimezoneOverride('Asia/Tokyo')]);
  assert.deepEqual(emulations.describe(7), ['media dark', 'time zone Asia/Tokyo']);
  assert.deepEqual(emulations.describe(8), []);
  sentCommands.length = 0;
  await emulations.clear(7);
  assert.deepEqual(sentCommands, [...endEmulationMethods, 'release']);
  assert.deepEqual(emulations.describe(7), []);
});

test('an emulation ends 30 min after its last change', async () => {
  const { emulations, sentCommands } = makeFixture();
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  mock.timers.tick(EmulationIdleMs - 1);
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  mock.timers.tick(EmulationIdleMs - 1);
  await settlePromises();
  assert.deepEqual(emulations.describe(7), ['media dark']);
  mock.timers.tick(1);
  await settlePromises();
  assert.equal(sentCommands.at(-1), 'release');
  assert.deepEqual(emulations.describe(7), []);
});

test('an emulation ends when the debugger is detached, and does not keep the debugger', async () => {
  const { emulations, sentCommands, loseSession } = makeFixture();
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  loseSession();
  await settlePromises();
  assert.deepEqual(emulations.describe(7), []);
  assert.equal(sentCommands.at(-1), 'release');
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  assert.equal(
    sentCommands.filter((sentText) => sentText === 'hold').length,
    2,
    'a new emulation must attach the debugger again',
  );
});

test('an emulation ends if Chrome rejects its only override', async () => {
  const { emulations, sentCommands } = makeFixture();
  await assert.rejects(
    emulations.applyOverrides(7, 's1', [makeTimezoneOverride('Nowhere')]),
    /Chrome rejected setTimezoneOverride: Invalid timezone/,
  );
  assert.equal(sentCommands.at(-1), 'release');
  await emulations.applyOverrides(7, 's1', [darkModeOverride]);
  await assert.rejects(emulations.applyOverrides(7, 's1', [makeTimezoneOverride('Nowhere')]));
  assert.deepEqual(emulations.describe(7), ['media dark']);
});

test('the end of a session removes only the overrides of the session', async () => {
  const { emulations, sentCommands } = makeFixture();
  await emulations.applyOverrides(7, 's1', [darkModeOverride, makeTimezoneOverride('Asia/Tokyo')]);
  await emulations.applyOverrides(7, 's2', [makeTimezoneOverride('Europe/Rome')]);
  sentCommands.length = 0;
  await emulations.endSession('s1');
  assert.deepEqual(sentCommands.splice(0), ['Emulation.setEmulatedMedia']);
  assert.deepEqual(emulations.describe(7), ['time zone Europe/Rome']);
  await emulations.endSession('s2');
  assert.equal(sentCommands.at(-1), 'release');
  assert.deepEqual(emulations.describe(7), []);
});
