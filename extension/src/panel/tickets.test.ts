import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView, TicketKind } from '../../../wire/wire.gen.ts';
import { clock, isCut, LingerMs, nextCards, saidOf } from './tickets.ts';

const nothing = new Map<string, string>();
const call = (
  callId: string,
  ticketId?: string,
  more: Partial<CallView> = {},
  kind: TicketKind = 'permission',
): CallView => ({
  callId,
  plugin: 'p',
  tool: 't',
  status: 'pending',
  runMs: 0,
  ...(ticketId === undefined ? {} : { waiting: { ticketId, kind, reason: 'r', leftMs: 1000 } }),
  ...more,
});

test('cards keep their order, new ones come last', () => {
  const first = nextCards([], [call('b', 't1'), call('x')], nothing, 0);
  const second = nextCards(first, [call('a', 't2'), call('b', 't1'), call('x', 't3')], nothing, 1);
  assert.deepEqual(
    second.map((card) => card.ticket.ticketId),
    ['t1', 't2', 't3'],
  );
  assert.ok(second.every((card) => !card.gone));
});

test('a card that nobody waits for says why, stays for a while, then goes', () => {
  const fate = (kind: TicketKind, now: readonly CallView[]) => {
    const had = nextCards([], [call('a', 't1', {}, kind)], nothing, 0);
    return nextCards(had, now, nothing, 0)[0]?.gone?.fate;
  };
  assert.equal(fate('permission', [call('a', undefined, { status: 'running' })]), 'Already allowed elsewhere.');
  assert.equal(fate('user', [call('a', undefined, { status: 'done' })]), 'Not needed any more: the call goes on.');
  assert.equal(
    fate('permission', [call('a', undefined, { status: 'failed', error: 'nobody\u202e decided' })]),
    'Not run: nobody decided',
  );
  assert.equal(fate('user', [call('a', undefined, { status: 'cancelled' })]), 'Withdrawn: the call was stopped.');
  assert.equal(fate('user', []), 'Nobody waits for it any more.');

  let cards = nextCards([], [call('a', 't1'), call('b', 't2')], nothing, 0);
  cards = nextCards(cards, [call('b', 't2')], nothing, 1000);
  cards = nextCards(cards, [call('b', 't2')], nothing, 1000 + LingerMs - 1);
  assert.equal(cards.length, 2);
  cards = nextCards(cards, [call('b', 't2')], nothing, 1000 + LingerMs);
  assert.deepEqual(
    cards.map((card) => card.ticket.ticketId),
    ['t2'],
  );
});

test('a second question of one call is another card', () => {
  const had = nextCards([], [call('a', 't1')], nothing, 0);
  const next = nextCards(had, [call('a', 't2')], nothing, 0);
  assert.deepEqual(
    next.map((card) => [card.ticket.ticketId, card.gone !== undefined]),
    [
      ['t1', true],
      ['t2', false],
    ],
  );
});

test('what was answered here is said, also if the answer comes after the card has gone', () => {
  let cards = nextCards([], [call('a', 't1')], nothing, 0);
  cards = nextCards(cards, [], nothing, 0);
  cards = nextCards(cards, [], new Map([['t1', 'Denied.']]), 10);
  assert.equal(cards[0]?.gone?.fate, 'Denied.');
});

test('decisions in words', () => {
  const sent = { callId: 'c', ticketId: 't', allow: true } as const;
  const taken = { outcome: 'decided', allowed: true } as const;
  assert.equal(saidOf('permission', sent, taken), 'Allowed once.');
  assert.equal(saidOf('permission', { ...sent, scope: 'session' }, taken), 'Allowed for this session.');
  assert.equal(saidOf('permission', { ...sent, scope: 'time' }, taken), 'Allowed for 10 minutes.');
  assert.equal(saidOf('permission', { ...sent, scope: 'always' }, taken), 'Allowed from now on.');
  assert.equal(saidOf('permission', { ...sent, allow: false }, { outcome: 'decided', allowed: false }), 'Denied.');
  assert.equal(saidOf('user', sent, taken), 'Done. The call goes on.');
  assert.equal(saidOf('user', { ...sent, allow: false }, taken), 'Stopped.');
  assert.equal(
    saidOf('permission', sent, { outcome: 'already', by: 'opentabs\u202e calls', allowed: false }),
    'Already denied by opentabs calls.',
  );
  assert.equal(saidOf('user', sent, { outcome: 'already', allowed: true }), 'Already confirmed by somebody else.');
  assert.match(saidOf('permission', sent, { outcome: 'ended', allowed: false }), /^Too late/);
});

test('time left', () => {
  assert.deepEqual(
    [clock(299_001), clock(60_000), clock(5_000), clock(1), clock(-5)],
    ['5:00', '1:00', '0:05', '0:01', '0:00'],
  );
});

test('what was cut', () => {
  assert.deepEqual([isCut('{"a":1}'), isCut('{"a":'), isCut('"ab'), isCut('')], [false, true, true, false]);
});
