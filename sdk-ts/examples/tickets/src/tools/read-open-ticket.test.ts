import assert from 'node:assert/strict';
import test from 'node:test';
import { readOpenTicket } from './read-open-ticket.ts';

test('read_open_ticket returns the title and the comments that the page shows', async (t) => {
  const page: Record<string, { textContent: string }[]> = {
    '.ticket h1': [{ textContent: ' Broken link ' }],
    '.ticket .comment': [{ textContent: 'Where?' }, { textContent: '\nOn the first page.' }],
  };
  const document = {
    querySelector: (selector: string) => page[selector]?.[0] ?? null,
    querySelectorAll: (selector: string) => page[selector] ?? [],
  };
  Object.defineProperty(globalThis, 'document', { value: document, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  assert.deepEqual(await readOpenTicket.handle({}), {
    title: 'Broken link',
    comments: ['Where?', 'On the first page.'],
  });
});
