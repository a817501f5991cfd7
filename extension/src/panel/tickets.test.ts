import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallView, TicketKind } from '../../../wire/wire.gen.ts';
import { DecidedCardShownMs, describeOutcome, formatRemainingTime, isTruncated, updateCards } from './tickets.ts';

const noOutcomes = new Map<string, string>();
const makeWaitingCall = (
  callId: string,
  ticketId?: string,
  callFields: Partial<CallView> = {},
  kind: TicketKind = 'permission',
): CallView => ({
  callId,
  plugin: 'p',
  tool: 't',
  status: 'pending',
  runMs: 0,
  ...(ticketId === undefined ? {} : { waiting: { ticketId, kind, reason: 'r', leftMs: 1000 } }),
  ...callFields,
});

test('approval cards keep their order, and new cards are added at the end', () => {
  const firstCards = updateCards([], [makeWaitingCall('b', 't1'), makeWaitingCall('x')], noOutcomes, 0);
  const secondCards = updateCards(
    firstCards,
    [makeWaitingCall('a', 't2'), makeWaitingCall('b', 't1'), makeWaitingCall('x', 't3')],
    noOutcomes,
    1,
  );
  assert.deepEqual(
    secondCards.map((card) => card.ticket.ticketId),
    ['t1', 't2', 't3'],
  );
  assert.ok(secondCards.every((card) => !card.cardSettlement));
});

test('a decided or withdrawn approval card shows its outcome for 5 s', () => {
  const readOutcome = (kind: TicketKind, now: readonly CallView[]) => {
    const cardsBefore = updateCards([], [makeWaitingCall('a', 't1', {}, kind)], noOutcomes, 0);
    return updateCards(cardsBefore, now, noOutcomes, 0)[0]?.cardSettlement?.outcome;
  };
  assert.equal(
    readOutcome('permission', [makeWaitingCall('a', undefined, { status: 'running' })]),
    'Already allowed elsewhere.',
  );
  assert.equal(
    readOutcome('user', [makeWaitingCall('a', undefined, { status: 'done' })]),
    'No longer needed: the call continues.',
  );
  assert.equal(
    readOutcome('permission', [
      makeWaitingCall('a', undefined, { status: 'timed out', error: 'approval\u202e timed out' }),
    ]),
    'Not run: approval timed out',
  );
  assert.equal(
    readOutcome('user', [makeWaitingCall('a', undefined, { status: 'cancelled' })]),
    'Withdrawn: the call was cancelled.',
  );
  assert.equal(readOutcome('user', []), 'The call is no longer waiting for approval.');

  let cards = updateCards([], [makeWaitingCall('a', 't1'), makeWaitingCall('b', 't2')], noOutcomes, 0);
  cards = updateCards(cards, [makeWaitingCall('b', 't2')], noOutcomes, 1000);
  cards = updateCards(cards, [makeWaitingCall('b', 't2')], noOutcomes, 1000 + DecidedCardShownMs - 1);
  assert.equal(cards.length, 2);
  cards = updateCards(cards, [makeWaitingCall('b', 't2')], noOutcomes, 1000 + DecidedCardShownMs);
  assert.deepEqual(
    cards.map((card) => card.ticket.ticketId),
    ['t2'],
  );
});

test('each approval request of a call has a separate card', () => {
  const cardsBefore = updateCards([], [makeWaitingCall('a', 't1')], noOutcomes, 0);
  const nextCards = updateCards(cardsBefore, [makeWaitingCall('a', 't2')], noOutcomes, 0);
  assert.deepEqual(
    nextCards.map((card) => [card.ticket.ticketId, card.cardSettlement !== undefined]),
    [
      ['t1', true],
      ['t2', false],
    ],
  );
});

test('an approval card shows the outcome of a decision that came too late', () => {
  let cards = updateCards([], [makeWaitingCall('a', 't1')], noOutcomes, 0);
  cards = updateCards(cards, [], noOutcomes, 0);
  cards = updateCards(cards, [], new Map([['t1', 'Denied.']]), 10);
  assert.equal(cards[0]?.cardSettlement?.outcome, 'Denied.');
});

test("describeOutcome describes the effect of the user's decision", () => {
  const sentDecision = { callId: 'c', ticketId: 't', allow: true } as const;
  const acceptedDecision = { outcome: 'decided', allowed: true } as const;
  assert.equal(describeOutcome('permission', sentDecision, acceptedDecision), 'Allowed once.');
  assert.equal(
    describeOutcome('permission', { ...sentDecision, scope: 'session' }, acceptedDecision),
    'Allowed for this session.',
  );
  assert.equal(
    describeOutcome('permission', { ...sentDecision, scope: 'time' }, acceptedDecision),
    'Allowed for 10 min.',
  );
  assert.equal(
    describeOutcome('permission', { ...sentDecision, scope: 'always' }, acceptedDecision),
    'Allowed from now on.',
  );
  assert.equal(
    describeOutcome('permission', { ...sentDecision, allow: false }, { outcome: 'decided', allowed: false }),
    'Denied.',
  );
  assert.equal(describeOutcome('user', sentDecision, acceptedDecision), 'Done. The call continues.');
  assert.equal(describeOutcome('user', { ...sentDecision, allow: false }, acceptedDecision), 'Stopped.');
  assert.equal(
    describeOutcome('permission', sentDecision, { outcome: 'already', by: 'opentabs\u202e calls', allowed: false }),
    'Already denied by opentabs calls.',
  );
  assert.equal(
    describeOutcome('user', sentDecision, { outcome: 'already', allowed: true }),
    'Already confirmed elsewhere.',
  );
  assert.match(describeOutcome('permission', sentDecision, { outcome: 'ended', allowed: false }), /^Too late/);
});

test('formatRemainingTime rounds the remaining time up to full seconds', () => {
  assert.deepEqual(
    [
      formatRemainingTime(299_001),
      formatRemainingTime(60_000),
      formatRemainingTime(5_000),
      formatRemainingTime(1),
      formatRemainingTime(-5),
    ],
    ['5:00', '1:00', '0:05', '0:01', '0:00'],
  );
});

test('isTruncated recognizes truncated JSON', () => {
  assert.deepEqual(
    [isTruncated('{"a":1}'), isTruncated('{"a":'), isTruncated('"ab'), isTruncated('')],
    [false, true, true, false],
  );
});
