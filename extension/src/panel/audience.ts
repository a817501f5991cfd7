// Selects the messages, results and activities that the panel shows. A tool marks its result and each of its progress
// reports as meant for the user or not. The panel always shows calls, their endings, their progress numbers and pending
// approvals, whatever the audience of their content.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/** UserAudience is the audience of content that is meant for the user. */
const UserAudience = 'user';

export interface VisibleReport {
  /** The field `share` is the completed fraction of the call, from 0 to 1, or undefined if unknown. */
  readonly share: number | undefined;
  readonly message: string;
  /**
   * The field `word` is the tool's status word for the call, such as "indexing", or empty if the tool reported none.
   */
  readonly word: string;
}

export function readVisibleReport(call: CallView, showsEverything: boolean): VisibleReport {
  const message = (showsEverything ? call.message : call.userMessage) ?? '';
  return { share: call.progress, message, word: (showsEverything ? call.statusWord : call.userStatusWord) ?? '' };
}

export function listVisibleActivities(call: CallView, showsEverything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => showsEverything || activity.audience === UserAudience);
}

export function hasNotEnded(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

export function readVisibleResult(call: CallView, showsEverything: boolean): string {
  return showsEverything || call.endAudience === UserAudience ? (call.result ?? '') : '';
}
