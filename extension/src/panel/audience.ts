// Selects the messages, results and activities that the panel shows. A tool marks each report and its result as meant for
// the user or not. The panel always shows calls, their endings, numbers, and decisions that the user has to make.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/**
 * User marks content for the user. Content with any other mark, also an unknown mark, is shown only with "Show
 * everything".
 */
const User = 'user';

/** Report is the progress of a call as the panel shows it. */
export interface Report {
  /** share is from 0 to 1, and absent while unknown. */
  readonly share: number | undefined;
  readonly message: string;
  /** word is the tool's own status word, such as "indexing". word is empty if the tool set no status word. */
  readonly word: string;
}

/** reportOf returns the progress of a call with its last visible message and status word. */
export function reportOf(call: CallView, everything: boolean): Report {
  const message = (everything ? call.message : call.userMessage) ?? '';
  return { share: call.progress, message, word: (everything ? call.statusWord : call.userStatusWord) ?? '' };
}

/** activitiesOf returns the visible activities of a call. */
export function activitiesOf(call: CallView, everything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => everything || activity.audience === User);
}

/** isOpen reports whether a call has not ended yet. */
export function isOpen(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

/** resultOf returns the beginning of a call's result, or an empty text if the result is not for the user. */
export function resultOf(call: CallView, everything: boolean): string {
  return everything || call.endAudience === User ? (call.result ?? '') : '';
}
