// Computes which approval cards the panel shows, and the outcome text of decided cards.

import type {
  CallDecideParams,
  CallDecideResult,
  CallView,
  Scope,
  TicketKind,
  WaitingView,
} from '../../../wire/wire.gen.ts';
import { removeHiddenCharacters } from './wording.ts';

export const DecidedCardShownMs = 5000;
export const TimedGrantMs = 600_000;

export interface Card {
  readonly call: CallView;
  readonly ticket: WaitingView;
  /**
   * The field `settlement` is the time and the outcome of the decision, set once the card's ticket was decided or
   * withdrawn.
   */
  readonly settlement?: { readonly atMs: number; readonly outcome: string };
}

/** updateCards adds new approval cards at the end, so that a new card never moves the other cards. */
export function updateCards(
  cards: readonly Card[],
  calls: readonly CallView[],
  outcomes: ReadonlyMap<string, string>,
  nowMs: number,
): Card[] {
  const newCards: Card[] = [];
  const previousIds = new Set<string>();
  for (const card of cards) {
    const id = card.ticket.ticketId;
    const call = calls.find((c) => c.callId === card.call.callId);
    previousIds.add(id);
    if (call?.waiting?.ticketId === id) newCards.push({ call, ticket: call.waiting });
    else if (!card.settlement)
      newCards.push({
        ...card,
        settlement: { atMs: nowMs, outcome: outcomes.get(id) ?? describeOutcomeElsewhere(card.ticket, call) },
      });
    else if (nowMs - card.settlement.atMs < DecidedCardShownMs) {
      const outcome = outcomes.get(id) ?? card.settlement.outcome;
      newCards.push({ ...card, settlement: { ...card.settlement, outcome } });
    }
  }
  for (const call of calls) {
    if (call.waiting && !previousIds.has(call.waiting.ticketId)) newCards.push({ call, ticket: call.waiting });
  }
  return newCards;
}

/**
 * describeOutcomeElsewhere returns the outcome text of a ticket that was decided elsewhere, such as in the terminal.
 */
export function describeOutcomeElsewhere({ ticketId, kind }: WaitingView, call: CallView | undefined): string {
  const decision = call?.decision;
  if (decision?.ticketId === ticketId) return describeEarlierDecision(kind, decision.allowed, decision.by);
  switch (call?.status) {
    case 'failed':
    case 'timed out':
      return `${kind === 'permission' ? 'Not run' : 'Ended'}: ${removeHiddenCharacters(call.error ?? '') || `the call ${call.status}`}`;
    case 'cancelled':
      return 'Withdrawn: the call was cancelled.';
    case undefined:
      return 'The call is no longer waiting for approval.';
    default:
      // If the call continues, the text mentions no decision of the user, because the tool may have withdrawn its
      // request.
      return kind === 'permission' ? 'Already allowed elsewhere.' : 'No longer needed: the call continues.';
  }
}

export function describeOutcome(
  kind: TicketKind,
  sentDecision: CallDecideParams,
  { outcome, by, allowed }: CallDecideResult,
): string {
  switch (outcome) {
    case 'ended':
      return 'Too late: the call had already ended.';
    case 'already':
      return describeEarlierDecision(kind, allowed, by);
    case 'decided':
      return sentDecision.allow
        ? describeGrantScope(kind, sentDecision.scope)
        : kind === 'permission'
          ? 'Denied.'
          : 'Stopped.';
  }
}

function describeEarlierDecision(kind: TicketKind, allowed: boolean, by: string | undefined): string {
  return `Already ${chooseDecisionWord(kind, allowed)} ${by ? `by ${removeHiddenCharacters(by)}` : 'elsewhere'}.`;
}

function chooseDecisionWord(kind: TicketKind, allowed: boolean): string {
  if (kind === 'permission') return allowed ? 'allowed' : 'denied';
  return allowed ? 'confirmed' : 'stopped';
}

function describeGrantScope(kind: TicketKind, scope: Scope | undefined): string {
  if (kind === 'user') return 'Done. The call continues.';
  switch (scope) {
    case 'session':
      return 'Allowed for this session.';
    case 'time':
      return `Allowed for ${TimedGrantMs / 60_000} min.`;
    case 'always':
      return 'Allowed from now on.';
    default:
      return 'Allowed once.';
  }
}

/** formatRemainingTime formats the remaining time of an approval card as minutes and seconds, such as 4:05. */
export function formatRemainingTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export function isTruncated(json: string): boolean {
  try {
    JSON.parse(json);
    return false;
  } catch {
    return json !== '';
  }
}
