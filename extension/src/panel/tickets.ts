// The questions to the person: which cards there are, and what became of those that nobody waits for any more.

import type {
  CallDecideParams,
  CallDecideResult,
  CallView,
  Scope,
  TicketKind,
  WaitingView,
} from '../../../wire/wire.gen.ts';
import { plain } from './wording.ts';

/** LingerMs is how long a card stays that nobody waits for any more, in milliseconds: it says what became of it. */
export const LingerMs = 5000;
/** TimeMs is how long a permission for some time holds that is given here, in milliseconds. */
export const TimeMs = 600_000;

/** Card is one question. */
export interface Card {
  readonly call: CallView;
  readonly ticket: WaitingView;
  /** gone is set once nobody waits for it any more. */
  readonly gone?: { readonly atMs: number; readonly fate: string };
}

/**
 * nextCards returns the cards after the calls changed. Cards keep their order and new ones come last, so that none moves
 * while others come. said are the fates that this panel knows from answers to its own requests, by ticket.
 */
export function nextCards(
  cards: readonly Card[],
  calls: readonly CallView[],
  said: ReadonlyMap<string, string>,
  nowMs: number,
): Card[] {
  const next: Card[] = [];
  const had = new Set<string>();
  for (const card of cards) {
    const id = card.ticket.ticketId;
    const call = calls.find((c) => c.callId === card.call.callId);
    had.add(id);
    if (call?.waiting?.ticketId === id) next.push({ call, ticket: call.waiting });
    else if (!card.gone)
      next.push({ ...card, gone: { atMs: nowMs, fate: said.get(id) ?? fateOf(card.ticket.kind, call) } });
    else if (nowMs - card.gone.atMs < LingerMs) {
      const fate = said.get(id) ?? card.gone.fate;
      next.push({ ...card, gone: { ...card.gone, fate } });
    }
  }
  for (const call of calls) {
    if (call.waiting && !had.has(call.waiting.ticketId)) next.push({ call, ticket: call.waiting });
  }
  return next;
}

/** fateOf says what became of a question that was not answered here. */
function fateOf(kind: TicketKind, call: CallView | undefined): string {
  switch (call?.status) {
    case 'failed':
      return `${kind === 'permission' ? 'Not run' : 'Ended'}: ${plain(call.error ?? '') || 'the call failed'}`;
    case 'cancelled':
      return 'Withdrawn: the call was stopped.';
    case undefined:
      return 'Nobody waits for it any more.';
    default:
      // A tool may also have stopped to wait by itself.
      return kind === 'permission' ? 'Already allowed elsewhere.' : 'Not needed any more: the call goes on.';
  }
}

/** saidOf says what became of a decision that was made here. */
export function saidOf(kind: TicketKind, sent: CallDecideParams, { outcome, by, allowed }: CallDecideResult): string {
  switch (outcome) {
    case 'ended':
      return 'Too late: the call has ended, nothing was run.';
    case 'already':
      return `Already ${words(kind, allowed)} by ${plain(by ?? '') || 'somebody else'}.`;
    case 'decided':
      return sent.allow ? allowedFor(kind, sent.scope) : kind === 'permission' ? 'Denied.' : 'Stopped.';
  }
}

function words(kind: TicketKind, allowed: boolean): string {
  if (kind === 'permission') return allowed ? 'allowed' : 'denied';
  return allowed ? 'confirmed' : 'stopped';
}

function allowedFor(kind: TicketKind, scope: Scope | undefined): string {
  if (kind === 'user') return 'Done. The call goes on.';
  switch (scope) {
    case 'session':
      return 'Allowed for this session.';
    case 'time':
      return `Allowed for ${TimeMs / 60_000} minutes.`;
    case 'always':
      return 'Allowed from now on.';
    default:
      return 'Allowed once.';
  }
}

/** clock writes how much time is left, always as wide: 4:05. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** isCut reports whether JSON text is only the beginning of a longer one. */
export function isCut(json: string): boolean {
  try {
    JSON.parse(json);
    return false;
  } catch {
    return json !== '';
  }
}
