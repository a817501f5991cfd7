import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Report } from '../../../../wire/wire.gen.ts';
import { awaitFailure, findTool, makeBrowserCall } from '../../../test/browser-call.ts';
import type { Download } from '../../chrome-downloads.ts';
import { makeDownloadTools } from './downloads.ts';

const runningDownload: Download = {
  id: 3,
  path: '/home/ada/Downloads/opentabs/report.pdf',
  finalUrl: 'https://shop.example/report.pdf',
  state: 'in_progress',
  error: undefined,
  isPaused: false,
  danger: 'safe',
  receivedBytes: 0,
  totalBytes: 2_000_000,
  isFileMissing: false,
};
const doneDownload: Download = { ...runningDownload, state: 'complete', receivedBytes: 2_000_000 };

/** Each time the tool reads the state of the download, the fake Chrome returns the next element of `downloadStates`. */
function makeFixture(t: TestContext, ...downloadStates: readonly Download[]) {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'] });
  const remainingStates = [...downloadStates];
  const discardedIds: number[] = [];
  const cancelledIds: number[] = [];
  const startedDownloads: (readonly [url: string, path: string])[] = [];
  const reports: Report[] = [];
  const controller = new AbortController();
  const chrome = {
    start: async () => 3,
    listed: downloadStates,
  };
  const tools = makeDownloadTools({
    startDownload: async (url, path) => {
      startedDownloads.push([url, path]);
      return await chrome.start();
    },
    listDownloads: async () => [...chrome.listed],
    readDownload: async () => (remainingStates.length > 1 ? remainingStates.shift() : remainingStates[0]),
    cancelDownload: async (id) => {
      cancelledIds.push(id);
      remainingStates.splice(0, remainingStates.length, {
        ...runningDownload,
        state: 'interrupted',
        error: 'USER_CANCELED',
      });
    },
    removeDownload: async (id) => {
      discardedIds.push(id);
    },
  });
  const runDownloads = async (args: Readonly<Record<string, unknown>>) => {
    const { signal } = controller;
    const toolPromise = findTool(
      tools,
      'browser_downloads',
    )(makeBrowserCall(args, { signal, report: (item) => reports.push(item) }));
    let hasEnded = false;
    const markDownloadEnded = () => {
      hasEnded = true;
    };
    toolPromise.then(markDownloadEnded, markDownloadEnded);
    for (let i = 0; i < 400 && !hasEnded; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(500);
    }
    return await toolPromise;
  };
  return {
    runDownloads,
    chrome,
    controller,
    startedDownloads,
    discardedIds,
    cancelled: cancelledIds,
    reports,
  };
}

const startArguments = { action: 'start', url: 'https://shop.example/report.pdf', _fileName: 'report.pdf' };

test("a download is saved in the folder opentabs under the server's file name", async (t) => {
  const { runDownloads, startedDownloads, discardedIds } = makeFixture(
    t,
    { ...runningDownload, path: '', finalUrl: '' },
    runningDownload,
  );
  assert.deepEqual(await runDownloads(startArguments), {
    text: 'Download 3 "report.pdf": running, 0 B of 2.0 MB.',
    downloadId: 3,
  });
  assert.deepEqual(startedDownloads, [['https://shop.example/report.pdf', 'opentabs/report.pdf']]);
  assert.deepEqual(discardedIds, [], 'discarded downloads');
});

test('the result names the site of a redirected download, which is discarded if a rule forbids the site', async (t) => {
  const { runDownloads, discardedIds } = makeFixture(t, {
    ...doneDownload,
    finalUrl: 'https://bank.example/report.pdf?token=1',
  });
  assert.equal(
    (await runDownloads(startArguments)).text,
    'Download 3 "report.pdf": done, 2.0 MB, in the folder opentabs of the user\'s downloads. The site redirected to https://bank.example.',
  );
  const { code, message: errorMessage } = await awaitFailure(
    runDownloads({ ...startArguments, _frames: { 'bank.example': false } }),
  );
  assert.equal(code, 'rejected');
  assert.match(
    errorMessage,
    /^the site redirected to https:\/\/bank\.example, which browser tools may not use\. Nothing was saved/,
  );
  assert.deepEqual(discardedIds, [3], 'discarded downloads');
  t.mock.timers.reset();
  const failedFixture = makeFixture(t, {
    ...runningDownload,
    finalUrl: 'https://bank.example/',
    state: 'interrupted',
    error: 'SERVER_FORBIDDEN',
  });
  const failure = await awaitFailure(
    failedFixture.runDownloads({ ...startArguments, _frames: { 'bank.example': false } }),
  );
  assert.doesNotMatch(
    failure.message,
    /SERVER_FORBIDDEN/,
    'the message must not contain the response of a forbidden site',
  );
});

test('a download that turns out to be a program is discarded', async (t) => {
  for (const otherArguments of [
    { path: '/home/ada/Downloads/opentabs/report.EXE' },
    { path: 'C:\\Users\\ada\\Downloads\\opentabs\\report.exe' },
    { finalUrl: 'https://cdn.example/setup.exe?x=1' },
    { finalUrl: 'https://cdn.example/setup.%65xe' },
  ]) {
    const { runDownloads, discardedIds } = makeFixture(t, { ...runningDownload, ...otherArguments });
    const { code, message: errorMessage } = await awaitFailure(
      runDownloads({ ...startArguments, _refusedTypes: ['exe', 'msi'] }),
    );
    assert.deepEqual([code, discardedIds], ['rejected', [3]], JSON.stringify(otherArguments));
    assert.match(errorMessage, /sent a program or a script \(\.exe\), which the address did not announce/);
    assert.match((await runDownloads({ ...startArguments, _refusedTypes: ['msi'] })).text ?? '', /^Download 3/);
    t.mock.timers.reset();
  }
});

test('a download that fails at its start or gets no file name is discarded', async (t) => {
  const failedFixture = makeFixture(t, {
    ...runningDownload,
    path: '',
    state: 'interrupted',
    error: 'SERVER_BAD_CONTENT',
  });
  const failure = await awaitFailure(failedFixture.runDownloads(startArguments));
  assert.deepEqual(
    [failure.code, failure.message.slice(0, 40)],
    ['download_failed', 'the download failed: SERVER_BAD_CONTENT.'],
  );
  assert.deepEqual(failedFixture.discardedIds, [3], 'discarded downloads');
  t.mock.timers.reset();
  const fixtureWithoutPath = makeFixture(t, { ...runningDownload, path: '' });
  fixtureWithoutPath.chrome.listed = [];
  assert.match(
    (await awaitFailure(fixtureWithoutPath.runDownloads(startArguments))).message,
    /^Chrome chose no file within 60 s/,
  );
  assert.deepEqual(fixtureWithoutPath.discardedIds, [3], 'a download without a file must be discarded');
  t.mock.timers.reset();
  const rejectedFixture = makeFixture(t, runningDownload);
  rejectedFixture.chrome.start = async () => await Promise.reject(new Error('Invalid filename.'));
  assert.equal(
    (await awaitFailure(rejectedFixture.runDownloads(startArguments))).message,
    'Chrome did not start the download: Invalid filename',
  );
});

test('a call that is cancelled before the site answers leaves no download', async (t) => {
  const { runDownloads, chrome, controller, discardedIds } = makeFixture(t, runningDownload);
  let answerDownload: (id: number) => void = () => undefined;
  chrome.start = () =>
    new Promise((resolve) => {
      answerDownload = resolve;
    });
  const call = runDownloads(startArguments);
  setImmediate(() => controller.abort(new Error('cancelled by the client')));
  await assert.rejects(call, /cancelled by the client/);
  answerDownload(3);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(discardedIds, [3], 'discarded downloads');
});

test('at most ten downloads run at the same time', async (t) => {
  const { runDownloads, chrome, startedDownloads } = makeFixture(t, runningDownload);
  chrome.listed = Array.from({ length: 10 }, (_, id) => ({ ...runningDownload, id }));
  assert.match((await awaitFailure(runDownloads(startArguments))).message, /^10 downloads of agents are running/);
  assert.deepEqual(startedDownloads, [], 'no download may start');
});

test('the action wait reports the received bytes until the download ends', async (t) => {
  const partialDownload = { ...runningDownload, receivedBytes: 1_000_000 };
  const { runDownloads, reports } = makeFixture(t, runningDownload, partialDownload, partialDownload, doneDownload);
  assert.equal(
    (await runDownloads({ action: 'wait', id: 3 })).text,
    'Download 3 "report.pdf": done, 2.0 MB, in the folder opentabs of the user\'s downloads.',
  );
  assert.deepEqual(
    reports.map(({ progress, total, message: errorMessage }) => [progress, total, errorMessage]),
    [
      [0, 2_000_000, '0 B of 2.0 MB'],
      [1_000_000, 2_000_000, '1.0 MB of 2.0 MB'],
      [1_000_000, 2_000_000, '1.0 MB of 2.0 MB'],
    ],
  );
});

test('the action wait ends when the user must decide, when no data arrives, or when the download fails', async (t) => {
  for (const [downloadState, expectedText] of [
    [{ ...runningDownload, isPaused: true }, /: paused, 0 B of 2\.0 MB\. Ask the user to resume/],
    [
      { ...runningDownload, receivedBytes: 2_000_000, danger: 'file' },
      /Chrome has a warning about the file \(file\)\./,
    ],
    [
      { ...runningDownload, totalBytes: undefined, receivedBytes: 500 },
      /: running, 500 B\. No data has arrived for 60 s/,
    ],
    [
      { ...runningDownload, state: 'interrupted', error: 'NETWORK_FAILED' },
      /: failed \(NETWORK_FAILED\), 0 B of 2\.0 MB\.$/,
    ],
    [{ ...runningDownload, state: 'interrupted', error: 'USER_CANCELED' }, /: cancelled\.$/],
    [{ ...doneDownload, isFileMissing: true }, /: done, 2\.0 MB, the file no longer exists\.$/],
    [{ ...doneDownload, path: '/home/ada/report.pdf' }, /in a folder that the user chose\.$/],
  ] as const) {
    const { runDownloads } = makeFixture(t, downloadState);
    assert.match((await runDownloads({ action: 'wait', id: 3 })).text ?? '', expectedText);
    t.mock.timers.reset();
  }
});

test('the action cancel ends a running download, and keeps a complete download', async (t) => {
  const firstFixture = makeFixture(t, runningDownload);
  assert.equal(
    (await firstFixture.runDownloads({ action: 'cancel', id: 3 })).text,
    'Download 3 "report.pdf": cancelled.',
  );
  assert.deepEqual(firstFixture.cancelled, [3], 'cancelled downloads');
  t.mock.timers.reset();
  const secondFixture = makeFixture(t, doneDownload);
  assert.match(
    (await secondFixture.runDownloads({ action: 'cancel', id: 3 })).text ?? '',
    /: done, .* There was nothing to cancel\.$/,
  );
  assert.deepEqual(secondFixture.cancelled, [], 'a complete download must not be cancelled');
});

test('the action list returns all downloads of the extension, which the server filters', async (t) => {
  const { runDownloads } = makeFixture(t, doneDownload, { ...runningDownload, id: 4 });
  assert.deepEqual((await runDownloads({ action: 'list' })).downloads, [
    { id: 3, text: 'Download 3 "report.pdf": done, 2.0 MB, in the folder opentabs of the user\'s downloads.' },
    { id: 4, text: 'Download 4 "report.pdf": running, 0 B of 2.0 MB.' },
  ]);
});
