import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView } from '../../../wire/wire.gen.ts';
import { describeCalls } from './calls-text.ts';

test('describeCalls counts running and waiting calls', () => {
  const openLink = { kind: 'open', serverVersion: '1' } as const;
  const call: CallView = { callId: 'c', plugin: 'p', tool: 't', status: 'pending', runMs: 0 };
  const waitingCall = { ...call, waiting: { ticketId: 't', kind: 'permission', reason: 'r', leftMs: 1 } } as const;
  assert.equal(describeCalls({ link: openLink, calls: [], running: 0 }), 'No tool is running.');
  assert.equal(describeCalls({ link: openLink, calls: [call], running: 3 }), '3 running.');
  assert.equal(
    describeCalls({ link: openLink, calls: [call, waitingCall], running: 2 }),
    '1 running, 1 waiting for you.',
  );
  assert.equal(
    describeCalls({ link: { kind: 'connecting' }, calls: [], running: 0 }),
    'The state of calls is unknown.',
  );
});
