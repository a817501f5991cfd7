import { checkType } from '../../../../wire/frame.ts';
import type { CallError } from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';

/** endedErrors are the errors of calls whose document no longer exists. */
export const endedErrors: Readonly<Record<TabState, CallError>> = {
  open: { code: 'navigated', message: 'the page was reloaded or left while the tool ran in it' },
  closed: { code: 'tab_closed', message: 'the tab was closed while the tool ran in it' },
  crashed: { code: 'page_crashed', message: 'the page crashed while the tool ran in it' },
  discarded: { code: 'tab_discarded', message: 'the browser unloaded the tab to save memory while the tool ran in it' },
};

/** notStartedErrors are the errors of calls that did not begin because their document no longer exists. */
export const notStartedErrors: Readonly<Record<TabState, CallError>> = {
  open: { code: 'navigated', message: 'the tab navigated to another document' },
  closed: { code: 'tab_closed', message: 'the tab was closed before the tool began' },
  crashed: { code: 'page_crashed', message: 'the page crashed before the tool began' },
  discarded: { code: 'tab_discarded', message: 'the browser unloaded the tab before the tool began' },
};

/** frozenError is the error of a call that did not begin because Chrome has frozen the page. */
export const frozenError: CallError = {
  code: 'tab_frozen',
  message: 'the browser has suspended the tab to save resources, so nothing runs in it',
  notStarted: true,
};

/** readError parses an error from a host. For an invalid text, readError returns an internal error. */
export function readError(text: string): CallError {
  try {
    const checked = checkType('CallError', JSON.parse(text));
    if (checked.ok) return checked.value;
  } catch {
    // For an invalid text, readError returns an internal error.
  }
  return { code: 'internal', message: "the page's error can't be read" };
}
