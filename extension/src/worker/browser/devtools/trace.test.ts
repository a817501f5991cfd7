import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectEvents } from './trace.ts';

const [topFrameId, innerFrameId, otherFrameId] = ['A'.repeat(32), 'B'.repeat(32), 'C'.repeat(32)];

const traceRules = {
  frames: [
    { id: topFrameId, url: 'https://shop.example/' },
    { id: innerFrameId, url: '' },
  ],
  origin: 'https://shop.example',
  isForbidden: (url: string) => url.includes('//bank.example'),
};

function makeEvent(name: string, pid: number, ts: number, eventData: object = {}) {
  return { name, ph: 'X', pid, ts, args: { data: eventData } };
}

function makeCommit(ts: number, frame: string, url: string, pid: number) {
  return makeEvent('CommitLoad', pid, ts, { frame, url });
}

function listNames(events: ReturnType<typeof selectEvents>): string[] {
  return selectEvents(events, traceRules).map(({ name }) => String(name));
}

const addedEventNames = ['TracingStartedInBrowser', 'FrameCommittedInBrowser'];

test('the trace file contains only events of the page and its allowed frames', () => {
  const events = [
    makeEvent('Layout', 10, 2, { frame: topFrameId }),
    makeCommit(5, innerFrameId, 'https://ads.example/', 30),
    makeCommit(5, otherFrameId, 'https://bank.example/', 20),
    makeEvent('Bank', 20, 6),
    makeEvent('BankInPage', 10, 6, { frame: otherFrameId }),
    makeEvent('BankNested', 10, 6, { more: { frameID: otherFrameId } }),
    makeEvent('Task', 10, 6),
    makeEvent('Ads', 30, 6, { frame: innerFrameId }),
    makeEvent('OtherTab', 40, 6, { frame: 'F'.repeat(32) }),
    makeEvent('ToBank', 10, 7, { url: 'https://bank.example/pay' }),
    { name: 'thread_name', ph: 'M', pid: 10, ts: 0, args: { name: 'Main' } },
    { name: 'process_labels', ph: 'M', pid: 10, ts: 0, args: { labels: 'Inbox' } },
    { name: 'thread_name', ph: 'M', pid: 40, ts: 0, args: { name: 'Main' } },
  ];
  assert.deepEqual(listNames(events), [...addedEventNames, 'Layout', 'CommitLoad', 'Task', 'Ads', 'thread_name']);
  const eventsText = JSON.stringify(selectEvents(events, traceRules));
  assert.doesNotMatch(eventsText, /bank|Inbox/);
  assert.match(eventsText, /"url":"https:\/\/shop.example\/","name":"","processId":10/);
});

test('trace events of a frame that showed a forbidden site are left out', () => {
  const events = [
    makeEvent('Layout', 10, 2, { frame: topFrameId }),
    makeCommit(5, innerFrameId, 'https://bank.example/', 20),
    makeEvent('Bank', 20, 6, { frame: innerFrameId }),
    makeCommit(7, innerFrameId, 'https://ads.example/', 30),
    makeEvent('Ads', 30, 8, { frame: innerFrameId }),
  ];
  assert.deepEqual(listNames(events), ['TracingStartedInBrowser', 'Layout']);
});

test('trace events of earlier pages on other sites are left out', () => {
  const events = [
    makeEvent('First', 10, 5, { frame: topFrameId }),
    makeEvent('navigationStart', 10, 8, { documentLoaderURL: 'https://other.example/', isOutermostMainFrame: true }),
    makeCommit(10, topFrameId, 'https://other.example/', 11),
    makeEvent('Second', 10, 15),
    makeEvent('Second', 11, 16, { frame: topFrameId }),
    makeCommit(20, topFrameId, 'https://shop.example/again', 10),
    makeEvent('Third', 10, 25),
  ];
  assert.deepEqual(listNames(events), [...addedEventNames, 'First', 'CommitLoad', 'Third']);
  assert.doesNotMatch(JSON.stringify(selectEvents(events, traceRules)), /other\.example/);
  const otherPageEvents = selectEvents(events, { ...traceRules, origin: 'https://other.example' });
  assert.doesNotMatch(JSON.stringify(otherPageEvents), /shop\.example/);
  assert.deepEqual(
    otherPageEvents.map(({ name }) => name),
    ['TracingStartedInBrowser', 'CommitLoad', 'Second'],
  );
});

test('secrets in addresses, headers and JSON of a trace are masked', () => {
  const eventData = {
    url: 'https://shop.example/a?token=S3CRET&q=1',
    headers: [
      { name: 'set-cookie', value: 'id=S3CRET; Path=/' },
      { name: 'etag', value: 'x' },
    ],
    detail: '{"password":"S3CRET","step":"pay"}',
    data: `data:image/png;base64,${'x'.repeat(500)}`,
  };
  const eventsText = JSON.stringify(
    selectEvents([makeEvent('ResourceSendRequest', 10, 5, { frame: topFrameId, ...eventData })], traceRules),
  );
  assert.doesNotMatch(eventsText, /S3CRET/);
  assert.match(eventsText, /q=1.*etag.*pay/);
  assert.doesNotMatch(eventsText, /x{200}/);
});

test('the trace file is empty if the agent is not allowed to read any frame', () => {
  assert.deepEqual(selectEvents([makeEvent('Layout', 10, 5)], { ...traceRules, frames: [] }), []);
  assert.deepEqual(listNames([makeEvent('Layout', 10, 5)]), []);
});
