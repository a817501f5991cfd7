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
export const TimedGrantDurationMs = 600_000;

export interface DecisionCard {
  readonly call: CallView;
  readonly ticket: WaitingView;
  /**
   * cardSettlement contains the time and the outcome of a decision. The field is set once the card's ticket was decided
   * or withdrawn.
   */
  readonly cardSettlement?: { readonly atMs: number; readonly outcome: string };
}

/** updateCards adds new approval cards at the end, so that a new card never moves the other cards. */
export function updateCards(
  cards: readonly DecisionCard[],
  calls: readonly CallView[],
  decisionOutcomes: ReadonlyMap<string, string>,
  nowMs: number,
): DecisionCard[] {
  const newCards: DecisionCard[] = [];
  const previousIds = new Set<string>();
  for (const card of cards) {
    const id = card.ticket.ticketId;
    const call = calls.find((openCall) => openCall.callId === card.call.callId);
    previousIds.add(id);
    if (call?.waiting?.ticketId === id) newCards.push({ call, ticket: call.waiting });
    else if (!card.cardSettlement)
      newCards.push({
        ...card,
        cardSettlement: {
          atMs: nowMs,
          outcome: decisionOutcomes.get(id) ?? describeExternalDecision(card.ticket, call),
        },
      });
    else if (nowMs - card.cardSettlement.atMs < DecidedCardShownMs) {
      const decisionOutcome = decisionOutcomes.get(id) ?? card.cardSettlement.outcome;
      newCards.push({ ...card, cardSettlement: { ...card.cardSettlement, outcome: decisionOutcome } });
    }
  }
  for (const call of calls) {
    if (call.waiting && !previousIds.has(call.waiting.ticketId)) newCards.push({ call, ticket: call.waiting });
  }
  return newCards;
}

/**
 * describeExternalDecision returns the outcome text of a ticket that was decided elsewhere, such as in the terminal.
 */
export function describeExternalDecision({ ticketId, kind }: WaitingView, call: CallView | undefined): string {
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
  { outcome: decisionOutcome, by: decidedBy, allowed: isAllowed }: CallDecideResult,
): string {
  switch (decisionOutcome) {
    case 'ended':
      return 'Too late: the call had already ended.';
    case 'already':
      return describeEarlierDecision(kind, isAllowed, decidedBy);
    case 'decided':
      return sentDecision.allow
        ? describeGrantScope(kind, sentDecision.scope)
        : kind === 'permission'
          ? 'Denied.'
          : 'Stopped.';
  }
}

function describeEarlierDecision(kind: TicketKind, isAllowed: boolean, decidedBy: string | undefined): string {
  return `Already ${chooseDecisionWord(kind, isAllowed)} ${decidedBy ? `by ${removeHiddenCharacters(decidedBy)}` : 'elsewhere'}.`;
}

function chooseDecisionWord(kind: TicketKind, isAllowed: boolean): string {
  if (kind === 'permission') return isAllowed ? 'allowed' : 'denied';
  return isAllowed ? 'confirmed' : 'stopped';
}

function describeGrantScope(kind: TicketKind, grantScope: Scope | undefined): string {
  if (kind === 'user') return 'Done. The call continues.';
  switch (grantScope) {
    case 'session':
      return 'Allowed for this session.';
    case 'time':
      return `Allowed for ${TimedGrantDurationMs / 60_000} min.`;
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
