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

/** recordNodeMutations records all changes of the side panel's DOM except the running times of calls. */
async function recordNodeMutations(): Promise<void> {
  await fixture.panel.evaluate(() => {
    const nodeMutations: string[] = [];
    Object.assign(globalThis, { changes: nodeMutations });
    const nodeObserver = new MutationObserver((mutationRecords) => {
      for (const { target, type, oldValue } of mutationRecords) {
        if (type === 'characterData' && target.nodeValue === oldValue) continue; // Preact rewrites empty text nodes
        const mutatedElement = target instanceof Element ? target : target.parentElement;
        if (mutatedElement?.closest('.call .time')) continue;
        const mutatedAncestor = mutatedElement?.closest('li .head, li, section, p') ?? mutatedElement;
        const listItem = mutatedElement?.closest('li');
        nodeMutations.push(`${type} ${(listItem?.querySelector('.args') ?? mutatedAncestor)?.textContent ?? ''}`);
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

const takeNodeMutations = () =>
  fixture.panel.evaluate(() => {
    const { changes: nodeMutations } = Object(globalThis);
    return [...new Set<string>(nodeMutations.splice(0))];
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
  await recordNodeMutations();
  showCalls(makeRunningCalls(0.2));
  await panel.getByText('page 20').waitFor();
  const nodeMutations = await takeNodeMutations();
  assert.ok(nodeMutations.length > 0);
  assert.deepEqual(
    nodeMutations.filter((nodeMutation) => !nodeMutation.endsWith(' n: 7')),
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
  await recordNodeMutations();
  showCalls([...makeRunningCalls(0.2), makeEndedCall('new', { args: '{"n":"new"}' })]);
  await panel.locator('.ended > li', { hasText: 'n: new' }).waitFor();
  const rowMutations = (await takeNodeMutations()).filter((nodeMutation) => / n: \d+$| channelId: /.test(nodeMutation));
  assert.deepEqual(rowMutations, []);
  await panel.locator('.ended > li').nth(3).locator('.details').waitFor();
  await waitFor('the focus to stay', () => stopButton.evaluate((button) => button === document.activeElement));
});

test('messages without a change do not change the page', async () => {
  const { panel, showCalls } = fixture;
  await recordNodeMutations();
  for (let i = 0; i < 5; i++) showCalls(makeRunningCalls(0.2));
  showCalls(makeRunningCalls(0.3));
  await panel.getByText('page 30').waitFor();
  assert.deepEqual(
    (await takeNodeMutations()).filter((nodeMutation) => !nodeMutation.endsWith(' n: 7')),
    [],
  );
});
