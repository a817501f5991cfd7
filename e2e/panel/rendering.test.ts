/**
 * The side panel updates only elements whose content has changed, so that the focus and the text selection
 * remain and nothing flickers.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '../harness/wait.ts';
import { type PanelFixture, startPanelFixture } from './panel-fixture.ts';
import { makeEndedCall, makeEndedCalls } from './recent-views.ts';
import { makeCall } from './sample-views.ts';

let fixture: PanelFixture;

before(async () => {
  fixture = await startPanelFixture();
});
after(() => fixture?.close());

/** recordChanges records all changes of the side panel's DOM except the running times of calls. */
async function recordChanges(): Promise<void> {
  await fixture.panel.evaluate(() => {
    const nodeChanges: string[] = [];
    Object.assign(globalThis, { changes: nodeChanges });
    const nodeObserver = new MutationObserver((mutationRecords) => {
      for (const { target, type, oldValue } of mutationRecords) {
        if (type === 'characterData' && target.nodeValue === oldValue) continue; // Preact rewrites empty text nodes
        const element = target instanceof Element ? target : target.parentElement;
        if (element?.closest('.call .time')) continue;
        const changedElement = element?.closest('li .head, li, section, p') ?? element;
        const listItem = element?.closest('li');
        nodeChanges.push(`${type} ${(listItem?.querySelector('.args') ?? changedElement)?.textContent ?? ''}`);
      }
    });
    nodeObserver.observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterDataOldValue: true,
    });
  });
}

const takeNodeChanges = () =>
  fixture.panel.evaluate(() => {
    const { changes: nodeChanges } = Object(globalThis);
    return [...new Set<string>(nodeChanges.splice(0))];
  });

const startMs = Date.now() - 60_000;

function makeRunningCalls(progress: number) {
  return Array.from({ length: 30 }, (_, i) =>
    makeCall(`c${i}`, {
      args: `{"n":${i}}`,
      runMs: Date.now() - startMs + (i % 7) * 10,
      ...(i === 7 ? { progress, userMessage: `page ${progress * 100}` } : {}),
    }),
  );
}

test('a progress report of one of 30 running calls changes only the row of that call', async () => {
  const { panel, showCalls } = fixture;
  showCalls([...makeRunningCalls(0.1), ...makeEndedCalls(200)]);
  await panel.getByText('page 10').waitFor();
  await recordChanges();
  showCalls(makeRunningCalls(0.2));
  await panel.getByText('page 20').waitFor();
  const nodeChanges = await takeNodeChanges();
  assert.ok(nodeChanges.length > 0);
  assert.deepEqual(
    nodeChanges.filter((nodeChange) => !nodeChange.endsWith(' n: 7')),
    [],
  );
});

test('a call that ends adds one row and does not change other rows', async () => {
  const { panel, showCalls } = fixture;
  const stopButton = panel.getByRole('button', { name: /^Stop .* n: 20$/ });
  await stopButton.focus();
  const expandedCallRow = panel.locator('.ended > li').nth(2);
  await expandedCallRow.locator('summary').click();
  await expandedCallRow.locator('.details').waitFor();
  await stopButton.focus();
  await recordChanges();
  showCalls([...makeRunningCalls(0.2), makeEndedCall('new', { args: '{"n":"new"}' })]);
  await panel.locator('.ended > li', { hasText: 'n: new' }).waitFor();
  const rowChanges = (await takeNodeChanges()).filter((nodeChange) => / n: \d+$| channelId: /.test(nodeChange));
  assert.deepEqual(rowChanges, []);
  await panel.locator('.ended > li').nth(3).locator('.details').waitFor();
  await waitFor('the focus to stay', () => stopButton.evaluate((button) => button === document.activeElement));
});

test('messages without a change do not change the page', async () => {
  const { panel, showCalls } = fixture;
  await recordChanges();
  for (let i = 0; i < 5; i++) showCalls(makeRunningCalls(0.2));
  showCalls(makeRunningCalls(0.3));
  await panel.getByText('page 30').waitFor();
  assert.deepEqual(
    (await takeNodeChanges()).filter((nodeChange) => !nodeChange.endsWith(' n: 7')),
    [],
  );
});
