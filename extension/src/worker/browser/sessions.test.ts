import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { makeBrowserCall } from '../../../test/browser-call.ts';
import { DetachDelayMs } from './debugger/debuggers.ts';
import { Sessions } from './sessions.ts';

let events: string[];
let sessions: Sessions;

beforeEach(() => {
  mock.timers.enable({ apis: ['Date'] });
  events = [];
  sessions = new Sessions({
    parts: [
      {
        endSession: async () => {
          throw new Error('Chrome rejected the command');
        },
      },
      { endSession: async (session) => void events.push(`end ${session}`) },
    ],
    detachUnusedTab: async (tabId) => void events.push(`leave ${tabId}`),
  });
});
afterEach(() => mock.timers.reset());

const makeTrackedTool = () => sessions.trackTabUse(async () => ({}));
const callTrackedTool = (session: string, tabId: number) => makeTrackedTool()(makeBrowserCall({}, { session, tabId }));

test('the end of a session deletes its data, and detaches the debugger from tabs without other sessions', async () => {
  await callTrackedTool('s1', 7);
  await callTrackedTool('s1', 8);
  await callTrackedTool('s1', 0);
  await callTrackedTool('s2', 8);
  await callTrackedTool('', 9);
  assert.deepEqual(sessions.sessionIds, ['s1', 's2']);
  await sessions.end(['s1', 'unknown']);
  assert.deepEqual(events.splice(0), ['end s1', 'leave 7']);
  assert.deepEqual(sessions.sessionIds, ['s2']);
  await sessions.end(['s1']);
  assert.deepEqual(events, [], 'the second end of a session must cause no events');
});

test('a session does not keep the debugger in a tab that the session has not used for 30 s', async () => {
  await callTrackedTool('s2', 7);
  mock.timers.tick(DetachDelayMs + 1);
  await callTrackedTool('s1', 7);
  await sessions.end(['s1']);
  assert.deepEqual(events, ['end s1', 'leave 7']);
});

test('if a session ends during a call, the data of the call is deleted after the call', async () => {
  let finishTool = () => {};
  const runningTool = sessions.trackTabUse(
    () =>
      new Promise((resolve) => {
        finishTool = () => resolve({});
      }),
  )(makeBrowserCall({}, { session: 's1', tabId: 7 }));
  await sessions.end(['s1']);
  assert.deepEqual(events.splice(0), ['end s1']);
  assert.deepEqual(sessions.sessionIds, ['s1'], 'an ended session must be kept while its call runs');
  finishTool();
  await runningTool;
  for (let i = 0; i < 20; i++) await Promise.resolve();
  assert.deepEqual(events, ['end s1', 'leave 7']);
  assert.deepEqual(sessions.sessionIds, []);
});
