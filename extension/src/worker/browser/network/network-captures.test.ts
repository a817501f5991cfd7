import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Fields } from '../../../record.ts';
import type { BrowserCall } from '../browser-tool.ts';
import { Attachment } from '../debugger/attachment.ts';
import type { DebuggerSession } from '../debugger/debuggers.ts';
import { NetworkCaptures } from './network-captures.ts';

const site = 'https://shop.example';
const tabId = 7;
const call: BrowserCall = Object({ tabId, session: 's1' });

/** All captures of the tab share attachment, because the debugger stays attached between captures. */
let attachment: Attachment;
let sentCommands: [string, Fields, string][];
let captures: NetworkCaptures;
let isFrameTreeAvailable: boolean;
let tabWatcherCount: number;

beforeEach(() => {
  attachment = new Attachment(() => undefined);
  sentCommands = [];
  isFrameTreeAvailable = true;
  tabWatcherCount = 0;
  const session: DebuggerSession = {
    send: async (method, params = {}, _limitMs = 0, childId = '') => {
      sentCommands.push([method, params, childId]);
      if (method !== 'Page.getFrameTree') return {};
      if (!isFrameTreeAvailable) throw new Error('the frame is gone');
      return { frameTree: { frame: { id: 'top', url: `${site}/` } } };
    },
    onEvent: (listener) => attachment.onEvent(listener),
    onChildTarget: (listener) => attachment.onChildTarget(listener),
    watchChildren: (listener) => attachment.watchChildren(listener),
  };
  const { detachedPromise } = attachment;
  const browser = {
    debuggers: { hold: async () => ({ session, detachedPromise, release: async () => undefined }) },
    watchTabs: () => {
      tabWatcherCount++;
      return () => void tabWatcherCount--;
    },
    describeTab: async () => undefined,
  };
  captures = new NetworkCaptures(Object(browser));
});

async function settlePromises(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

async function addRoute(pattern: string): Promise<void> {
  const { capture } = await captures.routes.use(tabId, 's1');
  const answer = { status: 200, headers: {}, body: 'mock' };
  await capture.add({ site, pattern, answer, session: 's1' });
}

async function sendRequest(url: string): Promise<string[]> {
  sentCommands = [];
  const params = { requestId: url, resourceType: 'Fetch', frameId: 'top', request: { url } };
  attachment.emitEvent('Fetch.requestPaused', params, '');
  await settlePromises();
  return sentCommands.map(([method]) => method).filter((method) => method.startsWith('Fetch.'));
}

test('a rule applies although the tab had other rules before, and removed rules do not apply', async () => {
  await addRoute('*/first');
  await captures.routes.end(tabId);
  assert.deepEqual(await sendRequest(`${site}/first`), []);
  await addRoute('*/second');
  assert.deepEqual(await sendRequest(`${site}/second`), ['Fetch.fulfillRequest']);
  assert.deepEqual(await sendRequest(`${site}/first`), ['Fetch.continueRequest']);
  await captures.endSession('s1');
  assert.deepEqual(await sendRequest(`${site}/second`), []);
});

test('a recording that has ended receives no events', async () => {
  const { recorder } = await captures.record(call);
  const begin = (requestId: string) =>
    attachment.emitEvent('Network.requestWillBeSent', { requestId, request: { url: `${site}/${requestId}` } }, '');
  begin('one');
  await captures.endSession('s1');
  begin('two');
  sentCommands = [];
  attachment.addChild({ id: 'c1', kind: 'iframe', targetId: 'f1', url: site });
  assert.deepEqual([recorder.requests.map(({ url }) => url), sentCommands, tabWatcherCount], [[`${site}/one`], [], 0]);
});

test('a recording that cannot start leaves no listeners', async () => {
  isFrameTreeAvailable = false;
  await assert.rejects(captures.record(call), /the frame is gone/);
  sentCommands = [];
  attachment.addChild({ id: 'c1', kind: 'iframe', targetId: 'f1', url: site });
  assert.deepEqual([sentCommands, tabWatcherCount], [[], 0]);
});

test('network conditions that have ended do not apply to new frames', async () => {
  const { capture } = await captures.conditions.use(tabId, 's1');
  await capture.set({ isOffline: true, latencyMs: 0, downloadKbps: 0, uploadKbps: 0 });
  await captures.conditions.end(tabId);
  const [[, lastConditions] = []] = sentCommands.slice(-1);
  assert.equal(lastConditions?.offline, false);
  sentCommands = [];
  attachment.addChild({ id: 'c1', kind: 'iframe', targetId: 'f1', url: site });
  await settlePromises();
  assert.deepEqual(sentCommands, []);
});
