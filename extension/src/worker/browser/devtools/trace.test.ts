import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectEvents } from './trace.ts';

const [topFrameId, innerFrameId, otherFrameId] = ['A'.repeat(32), 'B'.repeat(32), 'C'.repeat(32)];

const traceFilter = {
  frames: [
    { id: topFrameId, url: 'https://shop.example/' },
    { id: innerFrameId, url: '' },
  ],
  origin: 'https://shop.example',
  isForbidden: (url: string) => url.includes('//bank.example'),
};

function makeTraceEvent(name: string, pid: number, ts: number, eventData: object = {}) {
  return { name, ph: 'X', pid, ts, args: { data: eventData } };
}

function makeCommit(ts: number, frame: string, url: string, pid: number) {
  return makeTraceEvent('CommitLoad', pid, ts, { frame, url });
}

function listEventNames(events: ReturnType<typeof selectEvents>): string[] {
  return selectEvents(events, traceFilter).map(({ name }) => String(name));
}

const addedEventNames = ['TracingStartedInBrowser', 'FrameCommittedInBrowser'];

test('the trace file contains only events of the page and its allowed frames', () => {
  const events = [
    makeTraceEvent('Layout', 10, 2, { frame: topFrameId }),
    makeCommit(5, innerFrameId, 'https://ads.example/', 30),
    makeCommit(5, otherFrameId, 'https://bank.example/', 20),
    makeTraceEvent('Bank', 20, 6),
    makeTraceEvent('BankInPage', 10, 6, { frame: otherFrameId }),
    makeTraceEvent('BankNested', 10, 6, { more: { frameID: otherFrameId } }),
    makeTraceEvent('Task', 10, 6),
    makeTraceEvent('Ads', 30, 6, { frame: innerFrameId }),
    makeTraceEvent('OtherTab', 40, 6, { frame: 'F'.repeat(32) }),
    makeTraceEvent('ToBank', 10, 7, { url: 'https://bank.example/pay' }),
    { name: 'thread_name', ph: 'M', pid: 10, ts: 0, args: { name: 'Main' } },
    { name: 'process_labels', ph: 'M', pid: 10, ts: 0, args: { labels: 'Inbox' } },
    { name: 'thread_name', ph: 'M', pid: 40, ts: 0, args: { name: 'Main' } },
  ];
  assert.deepEqual(listEventNames(events), [...addedEventNames, 'Layout', 'CommitLoad', 'Task', 'Ads', 'thread_name']);
  const eventsText = JSON.stringify(selectEvents(events, traceFilter));
  assert.doesNotMatch(eventsText, /bank|Inbox/);
  assert.match(eventsText, /"url":"https:\/\/shop.example\/","name":"","processId":10/);
});

test('trace events of a frame that showed a forbidden site are left out', () => {
  const events = [
    makeTraceEvent('Layout', 10, 2, { frame: topFrameId }),
    makeCommit(5, innerFrameId, 'https://bank.example/', 20),
    makeTraceEvent('Bank', 20, 6, { frame: innerFrameId }),
    makeCommit(7, innerFrameId, 'https://ads.example/', 30),
    makeTraceEvent('Ads', 30, 8, { frame: innerFrameId }),
  ];
  assert.deepEqual(listEventNames(events), ['TracingStartedInBrowser', 'Layout']);
});

test('trace events of earlier pages on other sites are left out', () => {
  const events = [
    makeTraceEvent('First', 10, 5, { frame: topFrameId }),
    makeTraceEvent('navigationStart', 10, 8, {
      documentLoaderURL: 'https://other.example/',
      isOutermostMainFrame: true,
    }),
    makeCommit(10, topFrameId, 'https://other.example/', 11),
    makeTraceEvent('Second', 10, 15),
    makeTraceEvent('Second', 11, 16, { frame: topFrameId }),
    makeCommit(20, topFrameId, 'https://shop.example/again', 10),
    makeTraceEvent('Third', 10, 25),
  ];
  assert.deepEqual(listEventNames(events), [...addedEventNames, 'First', 'CommitLoad', 'Third']);
  assert.doesNotMatch(JSON.stringify(selectEvents(events, traceFilter)), /other\.example/);
  const otherPageEvents = selectEvents(events, { ...traceFilter, origin: 'https://other.example' });
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
    selectEvents([makeTraceEvent('ResourceSendRequest', 10, 5, { frame: topFrameId, ...eventData })], traceFilter),
  );
  assert.doesNotMatch(eventsText, /S3CRET/);
  assert.match(eventsText, /q=1.*etag.*pay/);
  assert.doesNotMatch(eventsText, /x{200}/);
});

test('the trace file is empty if the agent is not allowed to read any frame', () => {
  assert.deepEqual(selectEvents([makeTraceEvent('Layout', 10, 5)], { ...traceFilter, frames: [] }), []);
  assert.deepEqual(listEventNames([makeTraceEvent('Layout', 10, 5)]), []);
});
